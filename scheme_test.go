package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchemeSaysWhereTheBitsAre(t *testing.T) {
	for _, strategy := range allStrategies {
		opts := []Option{WithStrategy(strategy), WithSeed(7)}
		s := must(NewScheme(500, 0.001, opts...))
		f := must(s.Filter())
		made := MustNew(500, 0.001, opts...)
		require.NoError(t, f.compatible(made))
		require.Equal(t, made.Params(), s.Params())
		require.Equal(t, made.Scheme().Strategy().Name(), s.Strategy().Name())
		require.Equal(t, made.SizeBytes(), s.SizeBytes())
		require.Equal(t, s.String(), made.Scheme().String())

		marked := make([]atomic.Uint64, s.SizeBytes()/8)
		for i := range 500 {
			key := fmt.Appendf(nil, "key %d", i)
			made.Add(key)
			positions := s.AppendPositions(nil, key)
			for _, pos := range positions {
				marked[pos/64].Or(1 << (pos % 64))
			}
		}
		over := must(s.FilterOver(marked))
		require.True(t, over.Equal(made), s.String())

		// The words are shared, not copied.
		fresh := []byte("a key that comes later")
		over.Add(fresh)
		again := must(s.FilterOver(marked))
		require.True(t, again.Contains(fresh))
		require.Same(t, &marked[0], &over.Words()[0])
	}
}

func TestFrozenIdentity(t *testing.T) {
	params := Params{M: 1024, K: 4}
	for want, opts := range map[string][]Option{
		`m=1024 k=4 strategy="double-hashing" hash=murmur3:0000000000000000`:        nil,
		`m=1024 k=4 strategy="blocked" hash=murmur3:000000000000002a`:               {WithStrategy(Blocked), WithSeed(42)},
		`m=1024 k=4 strategy="double-hashing" hash=siphash:e0c7af1a1421f6f9`:        {WithSecret([16]byte{1})},
		`m=1024 k=4 strategy="double-hashing" hash="fnv-mixed"/64:0000000000000040`: {WithHash(customHash64)},
	} {
		s := must(NewSchemeWithParams(params, opts...))
		require.Equal(t, want, s.String())
	}
}

// TestSchemesKeepTheirKey: what prints or logs a scheme does not reveal the secret.
func TestSchemesKeepTheirKey(t *testing.T) {
	f := MustNew(1000, 0.01, WithSecret([16]byte([]byte("0123456789abcdef"))))
	s := f.Scheme()
	var out strings.Builder
	type hidden struct { // fmt calls no methods of unexported fields
		scheme *Scheme
		filter *BloomFilter
		value  BloomFilter
		copied Scheme
	}
	for _, v := range []any{s, f, *f, *s, hidden{s, f, *f, *s}, &hidden{s, f, *f, *s}, must(s.Builder())} {
		for _, verb := range "vsqxXdtbcoUeEfFgGpT" {
			fmt.Fprintf(&out, "%"+string(verb)+" %+"+string(verb)+" %#"+string(verb)+"\n", v, v, v)
		}
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("made", "scheme", s, "filter", f, "value", *f)
	for _, half := range []string{"01234567", "89abcdef"} {
		secret := binary.LittleEndian.Uint64([]byte(half))
		for _, text := range []string{half, fmt.Sprint(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%x", half)} {
			require.NotContains(t, out.String(), text)
		}
	}
	require.Contains(t, out.String(), s.String())
	require.Zero(t, s.Seed())
	require.Equal(t, "siphash", s.Hash().Name())
}

func TestFilterOverRefusesWordsThatDoNotFit(t *testing.T) {
	s := must(NewSchemeWithParams(Params{M: 100, K: 3}))
	for _, n := range []int{0, 1, 3} {
		_, err := s.FilterOver(make([]atomic.Uint64, n))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("%d words, want 2", n))
	}
	words := make([]atomic.Uint64, 2)
	words[1].Store(1 << 35) // bit 99
	_, err := s.FilterOver(words)
	require.NoError(t, err)
	words[1].Store(1 << 36) // bit 100
	_, err = s.FilterOver(words)
	require.ErrorIs(t, err, ErrInvalid)
}

// TestSchemeBytes: a scheme is written as the beginning of its filters, and read from them, with
// and without the rest.
func TestSchemeBytes(t *testing.T) {
	for _, s := range allStrategies {
		for _, opts := range [][]Option{nil, {WithSeed(77)}, {WithSecret(testKey)}} {
			opts = append(opts, WithStrategy(s))
			f, err := New(1000, 0.01, opts...)
			if s.NeedsKey() && err != nil {
				continue // has a hash of its own
			}
			require.NoError(t, err)
			data := must(f.Scheme().AppendBinary([]byte("before")))
			require.Equal(t, "before", string(data[:6]))
			data = data[6:]
			whole := must(f.MarshalBinary())
			require.True(t, bytes.HasPrefix(whole, data), "the header of a filter")
			require.Zero(t, len(data)%headerUnit)

			for _, from := range [][]byte{data, whole} {
				r := bytes.NewReader(from)
				got := must(ReadScheme(r, opts...))
				require.Equal(t, f.Scheme().String(), got.String())
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
