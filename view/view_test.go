package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

var all = []bloom.Strategy{bloom.DoubleHashing, bloom.SplitBlock, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8}

var testKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// built returns the bytes of a view of so many keys.
func built(t testing.TB, bitsPerKey float64, keys int, s bloom.Strategy, opts ...bloom.Option) []byte {
	b, err := NewBuilder(bitsPerKey, s, opts...)
	require.NoError(t, err)
	for i := range keys {
		b.Add(viewKey(i))
	}
	require.Equal(t, b.SizeBytes(), len(b.AppendTo(nil)))
	for i := range keys {
		b.Add(viewKey(i))
	}
	return b.AppendTo(nil)
}

// wordsOf returns the filter's words as bytes.
func wordsOf(f *bloom.BloomFilter) (bytes []byte) {
	for i := range f.Words() {
		bytes = binary.LittleEndian.AppendUint64(bytes, f.Words()[i].Load())
	}
	return bytes
}

// kFor returns the k of a builder.
func kFor(s bloom.Strategy, bitsPerKey float64) int {
	params, err := bloom.ParamsForBits(1000, bitsPerKey, s)
	if err != nil {
		panic(err)
	}
	return params.K
}

func index(h1, _ uint64, i int, m uint64) uint64 { return (h1 + uint64(i)) % m }

// viewKey returns keys of up to 147 bytes.
func viewKey(i int) []byte { return fmt.Appendf(nil, "key %d%*s", i, max(0, i%150-10), "") }

// named are the hashes that a trailer names.
var named = map[string][]bloom.Option{
	"murmur3":            nil,
	"murmur3, seed":      {bloom.WithSeed(1 << 63)},
	"rapidhash-v3":       {bloom.WithHash(bloom.RapidHash)},
	"rapidhash-v3, seed": {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(1 << 63)},
}

// unnamed are other hashes. Their views are asked by digests.
var unnamed = map[string][]bloom.Option{
	"siphash": {bloom.WithKey(testKey)},
	"custom": {bloom.WithHash(bloom.NewHash64("test: as Murmur3's first half", func(key []byte) uint64 {
		h1, _ := murmur3.Sum128(key)
		return h1
	}))},
}

// TestViewIsTheFilter: a view has the bits of the filter, and gives its answers at any alignment.
func TestViewIsTheFilter(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		for name, opts := range named {
			sameAnswers(t, s, name, opts, true)
		}
		for name, opts := range unnamed {
			sameAnswers(t, s, name, opts, false)
		}
	}
	var zero View
	require.PanicsWithValue(t, zeroView, func() { zero.ContainsString("x") })
	require.PanicsWithValue(t, zeroView, func() { zero.ContainsDigest(1, 2) })
}

func sameAnswers(t *testing.T, s bloom.Strategy, name string, opts []bloom.Option, isNamed bool) {
	for _, bitsPerKey := range []float64{1, 10, 33, 64} {
		for _, keys := range []int{0, 1, 16, 300} {
			data := built(t, bitsPerKey, keys, s, opts...)
			m := uint64(len(data)-trailerBytes) * 8
			require.GreaterOrEqual(t, float64(m), bitsPerKey*float64(keys))
			require.Less(t, float64(m), bitsPerKey*float64(keys)+512+1)
			f, err := bloom.NewWithParams(bloom.Params{M: m, K: kFor(s, bitsPerKey)}, slices.Concat(opts, []bloom.Option{bloom.WithStrategy(s)})...)
			require.NoError(t, err)
			for i := range keys {
				f.Add(viewKey(i))
			}
			words := wordsOf(f)
			require.Equal(t, words[:m/8], data[:m/8], "%s, %s, %v bits per key, %d keys", s, name, bitsPerKey, keys)
			for _, secret := range [][]byte{testKey[:8], testKey[8:]} {
				require.False(t, bytes.Contains(data[m/8:], secret))
			}
			for shift := range 9 {
				v, err := New(append(make([]byte, shift, shift+len(data)+8), data...)[shift:])
				require.NoError(t, err)
				of, err := Over(f.Scheme(), append(make([]byte, shift), words...)[shift:])
				require.NoError(t, err)
				for i := shift * 40; i < shift*40+100; i++ {
					key := viewKey(i)
					yes := f.Contains(key)
					want := [6]bool{yes || i < keys, yes || !isNamed, yes || !isNamed, yes, yes, yes}
					got := [6]bool{yes, v.Contains(key), v.ContainsString(string(key)), of.Contains(key), v.ContainsDigest(f.Digest(key)), of.ContainsDigest(f.Digest(key))}
					if got != want {
						t.Fatalf("%s, %s, key %d: %v, want %v", s, name, i, got, want)
					}
				}
			}
		}
	}
}

// TestViewOfAnyK: k and m that no builder chooses, by a scheme.
func TestViewOfAnyK(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		step := map[bloom.Strategy]int{bloom.Blocked2: 2, bloom.Blocked4: 4, bloom.Blocked8: 8}[s]
		step = max(1, step)
		if s == bloom.SplitBlock {
			step = 8
		}
		for k := step; k <= maxK && (s != bloom.SplitBlock || k == 8); k += step {
			for _, m := range []uint64{512, 512 * 3} {
				if s == bloom.DoubleHashing {
					m -= 413 // no whole byte
				}
				f, err := bloom.NewWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(s))
				require.NoError(t, err)
				for i := range max(1, int(m)*7/10/k) { // half of the bits are set, so that each counts
					f.Add(viewKey(i))
				}
				v, err := Over(f.Scheme(), wordsOf(f))
				require.NoError(t, err)
				for i := range 1000 {
					if f.Contains(viewKey(i)) != v.Contains(viewKey(i)) {
						t.Fatalf("%s k=%d m=%d key %d: Contains differs", s, k, m, i)
					}
				}
			}
		}
	}
}

// TestViewString: the line names what the trailer or the scheme says.
func TestViewString(t *testing.T) {
	view := func(opts ...bloom.Option) View {
		v, err := New(built(t, 10, 3, bloom.DoubleHashing, opts...))
		require.NoError(t, err)
		return v
	}
	seed := bloom.WithSeed(42)
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=murmur3:000000000000002a bytes=20)`, view(seed).String())
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=rapidhash-v3:000000000000002a bytes=20)`, view(bloom.WithHash(bloom.RapidHash), seed).String())
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=other bytes=20)`, view(bloom.WithKey(testKey)).String())
	f := bloom.MustNew(10, 0.01, bloom.WithKey(testKey))
	of, err := Over(f.Scheme(), make([]byte, f.SizeBytes()))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("view.View(%s bytes=16)", f.Scheme().Identity()), of.String())
	require.Equal(t, "view.View(zero)", View{}.String())
}

// TestOverRefuses: the bytes must have the size of the scheme, the strategy and the hash must be known.
func TestOverRefuses(t *testing.T) {
	s := bloom.MustNew(100, 0.01).Scheme()
	for _, size := range []int{0, 1, 127, 129, 120} {
		_, err := Over(s, make([]byte, size))
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("%d bytes, want 128", size))
	}
	_, err := Over(bloom.Scheme{}, nil)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = Over(bloom.MustNew(100, 0.01, bloom.WithStrategy(bloom.SeededHashing)).Scheme(), make([]byte, 128))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = Over(bloom.MustNew(10, 0.1, bloom.WithHash(bloom.MapHash)).Scheme(), make([]byte, 8))
	require.ErrorIs(t, err, bloom.ErrNotPortable)
}

func TestViewAllocatesNothing(t *testing.T) {
	for name, opts := range named {
		data := built(t, 10, 1000, bloom.DoubleHashing, opts...)
		b, err := NewBuilder(10, bloom.DoubleHashing, opts...)
		require.NoError(t, err)
		buf := make([]byte, 0, 4000)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			var key [40]byte
			v, err := New(data)
			if err != nil || v.Contains(key[:]) && v.ContainsString("x") && v.ContainsDigest(1, 2) {
				panic("these are not in it")
			}
			for i := range 100 {
				key[0] = byte(i)
				b.Add(key[:])
			}
			buf = b.AppendTo(buf[:0])
		}), name)
	}
}
