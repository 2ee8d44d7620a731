package bitsandblooms

import (
	"fmt"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	ours "github.com/seed3447c163/bloom/compat/bitsandblooms"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/stretchr/testify/require"
)

// These are tests of the drop-in, whose module must not import the root's internal packages.

func TestDropInZeroValues(t *testing.T) {
	zero.Methods(t, "bloom", new(ours.BloomFilter))
	require.Equal(t, "bloom.BloomFilter(zero)", fmt.Sprint(ours.BloomFilter{}))
}

func TestDropInLog(t *testing.T) { layeredtest.Log(t, ours.New(1000, 4), ours.BloomFilter{}) }

// TestDropInConformance tests the bytes and JSON.
func TestDropInConformance(t *testing.T) {
	small, large := ours.New(100, 3).AddString("key"), ours.New(1<<24, 3)
	for i := range 1000 {
		large.AddString(fmt.Sprint(i))
	}
	conformance.Format{
		Values: []io.WriterTo{small, ours.New(1, 1), ours.New(1000, 5)}, Large: large, Stream: true,
		Read: func(r io.Reader, _ ...bloom.Option) (io.WriterTo, error) {
			f := new(ours.BloomFilter)
			_, err := f.ReadFrom(r)
			return f, err
		},
	}.Test(t)
	conformance.Format{
		Values: []io.WriterTo{conformance.Encoded(small.MarshalJSON)}, AnyError: true,
		Read: conformance.Whole(func(data []byte) (io.WriterTo, error) {
			f := new(ours.BloomFilter)
			err := f.UnmarshalJSON(data)
			return conformance.Encoded(f.MarshalJSON), err
		}),
	}.Test(t)
}
