package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

func viewKey(i int) []byte { return fmt.Append(nil, "key ", i) }

// TestViewIsTheFilter: the same bits, and the same answers at any alignment.
func TestViewIsTheFilter(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		for _, bitsPerKey := range []float64{1, 5, 10, 16, 33, 64} {
			for _, keys := range []int{0, 1, 16, 300} {
				data := built(t, bitsPerKey, keys, s, bloom.WithSeed(9))
				m := uint64(len(data)-trailerBytes) * 8
				params := bloom.Params{M: m, K: kFor(s, bitsPerKey)}
				f, err := bloom.NewWithParams(params, bloom.WithStrategy(s), bloom.WithSeed(9))
				require.NoError(t, err)
				for i := range keys {
					f.Add(viewKey(i))
				}
				words := wordsOf(f)
				require.Equal(t, words[:m/8], data[:m/8], "%s, %v bits a key, %d keys", s, bitsPerKey, keys)

				for shift := range 9 {
					moved := append(make([]byte, shift, shift+len(data)+8), data...)[shift:]
					v, err := New(moved)
					require.NoError(t, err)
					bare := append(make([]byte, shift), words...)[shift:]
					of, err := Over(f.Scheme(), bare)
					require.NoError(t, err)
					for i := range keys + 100 {
						key := viewKey(i)
						want := f.Contains(key)
						require.True(t, want || i >= keys)
						require.Equal(t, want, v.Contains(key))
						require.Equal(t, want, of.Contains(key))
						require.Equal(t, want, v.ContainsString(string(key)))
						require.Equal(t, want, v.ContainsDigest(f.Digest(key)))
						require.Equal(t, want, of.ContainsDigest(f.Digest(key)))
					}
				}
			}
		}
	}
	var zero View
	require.PanicsWithValue(t, zeroView, func() { zero.ContainsString("x") })
	require.PanicsWithValue(t, zeroView, func() { zero.ContainsDigest(1, 2) })
	require.PanicsWithValue(t, zeroView, func() { zero.SizeBytes() })
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
				for i := range 5 {
					f.Add(viewKey(i))
				}
				v, err := Over(f.Scheme(), wordsOf(f))
				require.NoError(t, err)
				for i := range 300 {
					require.Equal(t, f.Contains(viewKey(i)), v.Contains(viewKey(i)), "%s k=%d m=%d key %d", s, k, m, i)
				}
			}
		}
	}
}

// named are the hashes that a trailer names.
var named = map[string][]bloom.Option{
	"murmur3":            nil,
	"murmur3, seed":      {bloom.WithSeed(1 << 63)},
	"rapidhash-v3":       {bloom.WithHash(bloom.RapidHash)},
	"rapidhash-v3, seed": {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(1 << 63)},
}

// TestViewNamesItsHash: a view with a hash that the trailer names needs nothing else to answer
// as the filter does, for keys of any length.
func TestViewNamesItsHash(t *testing.T) {
	key := func(i int) []byte { return fmt.Appendf(nil, "%0*d", i%150, i) }
	for name, opts := range named {
		for _, s := range all {
			b, err := NewBuilder(4, s, opts...)
			require.NoError(t, err)
			for i := range 300 {
				b.Add(key(i))
			}
			data := b.AppendTo(nil)
			params := bloom.Params{M: uint64(len(data)-trailerBytes) * 8, K: kFor(s, 4)}
			f, err := bloom.NewWithParams(params, slices.Concat(opts, []bloom.Option{bloom.WithStrategy(s)})...)
			require.NoError(t, err)
			for i := range 300 {
				f.Add(key(i))
			}
			v, err := New(data)
			require.NoError(t, err)
			of, err := Over(f.Scheme(), wordsOf(f))
			require.NoError(t, err)
			found := 0
			for i := range 1000 {
				want := f.Contains(key(i))
				require.Equal(t, want, v.Contains(key(i)), "%s, %s, key %d", name, s, i)
				require.Equal(t, want, v.ContainsString(string(key(i))))
				require.Equal(t, want, of.Contains(key(i)))
				if want {
					found++
				}
			}
			require.Less(t, found, 600, "else no answer of false was compared")
		}
	}
}

// TestViewOfEveryHash: those that a trailer does not name are asked by their digests.
func TestViewOfEveryHash(t *testing.T) {
	own := bloom.NewHash64("test: as Murmur3's first half", func(key []byte) uint64 {
		h1, _ := murmur3.Sum128(key)
		return h1
	})
	for _, opt := range []bloom.Option{bloom.WithKey(testKey), bloom.WithHash(own)} {
		for _, s := range all {
			data := built(t, 12, 200, s, opt)
			scheme, err := bloom.NewSchemeWithParams(bloom.Params{M: 512 * 5, K: kFor(s, 12)}, bloom.WithStrategy(s), opt)
			require.NoError(t, err)
			v, err := New(data)
			require.NoError(t, err)
			found := 0
			for i := range 2000 {
				require.True(t, v.Contains(viewKey(i)), "nobody can tell")
				if v.ContainsDigest(scheme.Digest(viewKey(i))) {
					found++
				} else {
					require.GreaterOrEqual(t, i, 200)
				}
			}
			require.Less(t, found, 300)
			for _, secret := range [][]byte{testKey[:8], testKey[8:]} {
				require.False(t, bytes.Contains(data[len(data)-trailerBytes:], secret))
			}

			f, err := scheme.Filter()
			require.NoError(t, err)
			f.Add(viewKey(1))
			of, err := Over(scheme, wordsOf(f))
			require.NoError(t, err)
			require.True(t, of.Contains(viewKey(1)))
			require.False(t, of.Contains(viewKey(2)))
		}
	}
	_, err := NewBuilder(10, bloom.DoubleHashing, bloom.WithHash(bloom.MapHash))
	require.ErrorIs(t, err, bloom.ErrNotPortable)
	_, err = Over(bloom.MustNew(10, 0.1, bloom.WithHash(bloom.MapHash)).Scheme(), make([]byte, 8))
	require.ErrorIs(t, err, bloom.ErrNotPortable)
}

// TestViewRate: what the bits allow, for filters of a block.
func TestViewRate(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		for _, keys := range []int{16, 1000} {
			const bitsPerKey, asked = 10, 2000
			hits, p, filters := 0, 0.0, 40_000/keys
			b, err := NewBuilder(bitsPerKey, s)
			require.NoError(t, err)
			for f := range filters {
				for i := range keys {
					b.AddDigest(bloom.Digest64(uint64(f*keys + i)))
				}
				size := b.SizeBytes() - trailerBytes
				v, err := New(b.AppendTo(nil))
				require.NoError(t, err)
				for i := range asked {
					if v.ContainsDigest(bloom.Digest64(1<<40 + uint64(f*asked+i))) {
						hits++
					}
				}
				p = s.FalsePositiveRate(uint64(size)*8, kFor(s, bitsPerKey), uint64(keys))
			}
			want := p * float64(filters*asked)
			// Filters differ in their fill: for 16 keys, by as much as their rate.
			sigma := math.Sqrt(want) + want/math.Sqrt(float64(filters))
			require.InDelta(t, want, hits, 4*sigma, "%s of %d keys: rate %v", s, keys, p)
		}
	}
}

func TestViewString(t *testing.T) {
	for _, s := range all {
		v, err := New(built(t, 10, 3, s, bloom.WithSeed(42)))
		require.NoError(t, err)
		m := (v.SizeBytes() - trailerBytes) * 8
		want := fmt.Sprintf("view.View(m=%d k=%d strategy=%q hash=murmur3:000000000000002a bytes=%d)", m, kFor(s, 10), s.Name(), v.SizeBytes())
		require.Equal(t, want, v.String())
		require.Equal(t, want, fmt.Sprintf("%#v", v))
	}
	rapid, err := New(built(t, 10, 3, bloom.DoubleHashing, bloom.WithHash(bloom.RapidHash), bloom.WithSeed(42)))
	require.NoError(t, err)
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=rapidhash-v3:000000000000002a bytes=20)`, rapid.String())
	keyed, err := New(built(t, 10, 3, bloom.DoubleHashing, bloom.WithKey(testKey)))
	require.NoError(t, err)
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=other bytes=20)`, keyed.String())
	f := bloom.MustNew(10, 0.01, bloom.WithKey(testKey))
	of, err := Over(f.Scheme(), make([]byte, f.SizeBytes()))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("view.View(%s bytes=16)", f.Scheme().Identity()), of.String())
	require.Equal(t, "view.View(zero)", View{}.String())
}

func TestSchemeViewRefuses(t *testing.T) {
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
