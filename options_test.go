package bloom

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMaxBytes(t *testing.T) {
	require.Equal(t, uint64(math.MaxUint64), MaxBytes())
	require.Equal(t, uint64(math.MaxUint64), MaxBytes(WithSeed(3), nil))
	require.Equal(t, uint64(7), MaxBytes(WithMaxBytes(9), WithStrategy(Blocked), WithMaxBytes(7)))
}

// TestMaxBytesBeforeCustomPositions: a custom strategy does not see an m beyond the limit.
func TestMaxBytesBeforeCustomPositions(t *testing.T) {
	sees := func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		if m > 8000 {
			t.Errorf("Positions(%d, %d)", m, k)
		}
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) { return 0, 0, 0, 0 }, nil
	}
	s, limit := WithStrategy(NewStrategy("triple", Definition{Positions: sees})), WithMaxBytes(1000)
	data := headerOf(must(NewSchemeWithParams(Params{M: 1 << 40, K: 7}, WithStrategy(triple))))
	for _, call := range []func() error{
		func() error { _, err := Read(bytes.NewReader(data), s, limit); return err },
		func() error { _, err := ReadScheme(bytes.NewReader(data), s, limit); return err },
		func() error { _, err := NewWithParams(Params{M: 1 << 40, K: 7}, s, limit); return err },
		func() error { _, err := New(1_000_000, 0.01, s, limit); return err },
	} {
		require.ErrorIs(t, call(), ErrTooLarge)
	}
}
