package bitsandblooms

import (
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

func TestFrozenPositions(t *testing.T) { conformance.Positions(t, []uint64{0}, Strategy) }

// TestSum256 compares with the library's hash of the key followed by 1.
func TestSum256(t *testing.T) {
	key := make([]byte, 300)
	for i := range key {
		key[i] = byte(uint64(i) * 0x9e3779b97f4a7c15 >> 56)
	}
	for n := range len(key) - 1 {
		var want [4]uint64
		want[0], want[1] = murmur3.Sum128(key[:n])
		want[2], want[3] = murmur3.Sum128(append(key[:n:n], 1))
		var got [4]uint64
		if got[0], got[1], got[2], got[3] = sum256(key[:n]); got != want {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestConformance(t *testing.T) {
	require.NoError(t, bloomtest.TestStrategy(Strategy, bloom.Params{N: 100, P: 0.05}, bloom.Params{N: 1000, P: 0.01}, bloom.Params{N: 20_000, P: 1e-3}))
}

func TestLocationsRefuses(t *testing.T) {
	require.PanicsWithValue(t, "bitsandblooms: k = -1, want at least 0", func() { Locations(nil, -1) })
	require.Empty(t, Locations(nil, 0))
}
