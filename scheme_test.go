package bloom

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

func TestSchemeSaysWhereTheBitsAre(t *testing.T) {
	triple := NewStrategy("custom", Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })})
	for _, opts := range [][]Option{
		nil,
		{WithSeed(7)},
		{WithHash(MapHash)},
		{WithHash(RapidHash)},
		{WithKey([16]byte{1, 2, 3})},
		{WithStrategy(Blocked)},
		{WithStrategy(Blocked), WithHash(MapHash)},
		{WithStrategy(Blocked), WithHash(RapidHash), WithSeed(7)},
		{WithStrategy(SeededHashing)},
		{WithStrategy(SeededHashing), WithSeed(7)},
		{WithStrategy(triple)},
		{WithStrategy(customSeeded), WithSeed(7)},
		{WithStrategy(customDouble)},
	} {
		s, err := NewScheme(500, 0.001, opts...)
		require.NoError(t, err)
		f, err := s.Filter()
		require.NoError(t, err)
		made := MustNew(500, 0.001, opts...)
		require.True(t, f.Compatible(made))
		require.Equal(t, made.Params(), s.Params())
		require.Equal(t, made.Strategy().Name(), s.Strategy().Name())
		require.Equal(t, made.SizeBytes(), s.SizeBytes())
		require.Equal(t, s.Identity(), made.Scheme().Identity())

		marked := make([]atomic.Uint64, s.SizeBytes()/8)
		for i := range 500 {
			key := fmt.Appendf(nil, "key %d", i)
			made.Add(key)
			positions := s.AppendPositions(nil, key)
			require.Len(t, positions, s.Params().K)
			for _, pos := range positions {
				marked[pos/64].Or(1 << (pos % 64))
			}
		}
		over, err := s.FilterOver(marked)
		require.NoError(t, err)
		require.True(t, over.Equal(made), s.Identity())

		// The words are shared, not copied.
		fresh := []byte("a key that comes later")
		over.Add(fresh)
		again, err := s.FilterOver(marked)
		require.NoError(t, err)
		require.True(t, again.Contains(fresh))
		require.Same(t, &marked[0], &over.Words()[0])
	}
}

func TestIdentityIsPinned(t *testing.T) {
	params := Params{M: 1024, K: 4}
	for want, opts := range map[string][]Option{
		`m=1024 k=4 strategy="double-hashing" hash=murmur3:0000000000000000`: nil,
		`m=1024 k=4 strategy="blocked-2" hash=murmur3:000000000000002a`:      {WithStrategy(Blocked2), WithSeed(42)},
		`m=1024 k=4 strategy="double-hashing" hash=siphash:e0c7af1a1421f6f9`: {WithKey([16]byte{1})},
	} {
		s, err := NewSchemeWithParams(params, opts...)
		require.NoError(t, err)
		require.Equal(t, want, s.Identity())
	}
}

// TestSchemesKeepTheirKey: whatever prints or logs one does not give the secret away.
func TestSchemesKeepTheirKey(t *testing.T) {
	f := MustNew(1000, 0.01, WithKey([16]byte([]byte("0123456789abcdef"))))
	s := f.Scheme()
	var out strings.Builder
	for _, v := range []any{s, f, *f} {
		fmt.Fprintf(&out, "%v %+v %#v %s\n", v, v, v, v)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("made", "scheme", s, "filter", f, "value", *f)
	for _, half := range []string{"01234567", "89abcdef"} {
		secret := binary.LittleEndian.Uint64([]byte(half))
		for _, text := range []string{half, fmt.Sprint(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%x", half)} {
			require.NotContains(t, out.String(), text)
		}
	}
	require.Contains(t, out.String(), s.Identity())
}

func TestIdentityTellsSchemesApart(t *testing.T) {
	seen := map[string]bool{}
	for _, params := range []Params{{M: 1024, K: 4}, {M: 1024, K: 8}, {M: 512, K: 4}} {
		for _, opts := range [][]Option{
			nil, {WithSeed(1)}, {WithKey([16]byte{})}, {WithKey([16]byte{15: 1})}, {WithHash(MapHash)},
			{WithHash(RapidHash)}, {WithHash(RapidHash), WithSeed(1)},
			{WithStrategy(SeededHashing)}, {WithStrategy(Blocked1)}, {WithStrategy(Blocked4)},
		} {
			s, err := NewSchemeWithParams(params, opts...)
			require.NoError(t, err)
			require.False(t, seen[s.Identity()], s.Identity())
			seen[s.Identity()] = true
		}
	}
}

func TestFilterOverRefusesWordsThatDoNotFit(t *testing.T) {
	s, err := NewSchemeWithParams(Params{M: 100, K: 3})
	require.NoError(t, err)
	for _, n := range []int{0, 1, 3} {
		_, err := s.FilterOver(make([]atomic.Uint64, n))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("%d words, want 2", n))
	}
	words := make([]atomic.Uint64, 2)
	words[1].Store(1 << 35) // bit 99
	_, err = s.FilterOver(words)
	require.NoError(t, err)
	words[1].Store(1 << 36) // bit 100
	_, err = s.FilterOver(words)
	require.ErrorIs(t, err, ErrInvalid)

	_, err = Scheme{}.Filter()
	require.ErrorIs(t, err, ErrInvalid)
	_, err = Scheme{}.FilterOver(nil)
	require.ErrorIs(t, err, ErrInvalid)
}
