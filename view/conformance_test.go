package view

import (
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
)

// TestConformance of the bytes with a trailer, for every strategy.
func TestConformance(t *testing.T) {
	for _, s := range strategies[1:] {
		conformance.Format{
			Values: []io.WriterTo{conformance.Bytes(built(t, 10, 1, s)), conformance.Bytes(built(t, 10, 1000, s, bloom.WithSeed(3)))},
			Read: conformance.Whole(func(data []byte) (io.WriterTo, error) {
				_, err := Parse(data)
				return conformance.Bytes(data), err
			}),
		}.Test(t)
	}
}
