package bloom

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithMaxBytes(t *testing.T) {
	f := MustNew(1000, 0.01)
	data, size := marshal(t, f), f.SizeBytes()
	calls := func(opts ...Option) (errs []error) {
		_, err := Read(bytes.NewReader(data), opts...)
		errs = append(errs, err)
		_, err = ReadScheme(bytes.NewReader(data), opts...)
		errs = append(errs, err)
		_, err = New(1000, 0.01, opts...)
		errs = append(errs, err)
		_, err = newWithParams(f.Params(), opts...)
		return append(errs, err)
	}
	for _, limit := range []uint64{size, 1 << 63} {
		require.Equal(t, make([]error, 4), calls(WithMaxBytes(limit)))
	}
	for _, limit := range []uint64{0, size - 1} {
		for _, err := range calls(WithMaxBytes(limit)) {
			require.ErrorIs(t, err, ErrTooLarge)
			require.EqualError(t, err, fmt.Sprintf("bloom: filter too large: m = %d bits are %d bytes, want at most %d", f.Params().M, size, limit))
		}
	}
	// A custom strategy does not see an m beyond the limit.
	s := NewStrategy("triple", Definition{Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
		t.Errorf("Positions(%d, %d)", m, k)
		return nil, nil
	}})
	data = marshal(t, MustNew(1000, 0.01, WithStrategy(triple)))
	for _, err := range calls(WithStrategy(s), WithMaxBytes(1000)) {
		require.ErrorIs(t, err, ErrTooLarge)
	}

	require.Equal(t, uint64(math.MaxUint64), MaxBytes())
	require.Equal(t, uint64(math.MaxUint64), MaxBytes(WithSeed(3), nil))
	require.Equal(t, uint64(7), MaxBytes(WithMaxBytes(9), WithStrategy(Blocked), WithMaxBytes(7)))
}
