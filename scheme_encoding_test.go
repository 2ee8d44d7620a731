package bloom

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scheme is written as the beginning of its filters, and is read from them, with and
// without what follows.
func TestSchemeBytes(t *testing.T) {
	key := [16]byte{1, 2, 3}
	for _, s := range append(slices.Clone(allStrategies), triple) {
		for _, opts := range [][]Option{nil, {WithSeed(77)}, {WithKey(key)}} {
			opts = append(opts, WithStrategy(s))
			f, err := New(1000, 0.01, opts...)
			if s.NeedsKey() && err != nil {
				continue // has a hash of its own
			}
			require.NoError(t, err)
			data, err := f.Scheme().AppendBinary([]byte("before"))
			require.NoError(t, err)
			require.Equal(t, "before", string(data[:6]))
			data = data[6:]
			whole, err := f.MarshalBinary()
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(whole, data), "the header of a filter")
			require.Zero(t, len(data)%headerUnit)

			for _, from := range [][]byte{data, whole} {
				r := bytes.NewReader(from)
				got, err := ReadScheme(r, opts...)
				require.NoError(t, err)
				require.Equal(t, f.Scheme().Identity(), got.Identity())
				require.Equal(t, f.Scheme().Params(), got.Params())
				require.Equal(t, len(from)-len(data), r.Len(), "nothing beyond the header is read")
			}
			for n := range data {
				_, err := ReadScheme(bytes.NewReader(data[:n]), opts...)
				if n == 0 {
					require.Equal(t, io.EOF, err)
				} else {
					require.ErrorIs(t, err, ErrCorrupt)
				}
			}
		}
	}
}

func TestSchemeBytesRefuse(t *testing.T) {
	_, err := Scheme{}.AppendBinary(nil)
	require.ErrorIs(t, err, ErrInvalid)
	_, err = MustNew(1000, 0.01, WithHash(MapHash)).Scheme().AppendBinary(nil)
	require.ErrorIs(t, err, ErrNotPortable)

	s, err := NewScheme(1000, 0.01, WithKey([16]byte{1}))
	require.NoError(t, err)
	data, err := s.AppendBinary(nil)
	require.NoError(t, err)
	for _, opts := range [][]Option{nil, {WithKey([16]byte{2})}, {WithSeed(1)}, {WithKey([16]byte{1}), WithStrategy(Blocked)}} {
		_, err = ReadScheme(bytes.NewReader(data), opts...)
		require.ErrorIs(t, err, ErrIncompatible)
	}
	_, err = ReadScheme(bytes.NewReader(data), WithKey([16]byte{1}), WithMaxBytes(8))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = ReadScheme(bytes.NewReader(data), nil)
	require.ErrorIs(t, err, ErrInvalid)
}
