package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

var testKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// built returns the bytes of a view of so many keys.
func built(t testing.TB, bitsPerKey float64, keys int, s bloom.Strategy, opts ...bloom.Option) []byte {
	b, err := NewWriter(bitsPerKey, s, opts...)
	require.NoError(t, err)
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

// viewKey returns keys of up to 147 bytes.
func viewKey(i int) []byte { return fmt.Appendf(nil, "key %d%*s", i, max(0, i%150-10), "") }

// kinds are options for every strategy and hash, with and without a seed or a secret.
func kinds() (kinds [][]bloom.Option) {
	index := func(h1, _ uint64, i int, m uint64) uint64 { return (h1 + uint64(i)) % m }
	h1 := func(key []byte) uint64 { h1, _ := murmur3.Sum128(key); return h1 }
	hashes := [][]bloom.Option{{bloom.WithSecret(testKey)}, {bloom.WithHash(bloom.NewHash64("test: as Murmur3's first half", h1))}}
	for _, h := range conformance.Hashes() {
		if h != bloom.MapHash {
			hashes = append(hashes, []bloom.Option{bloom.WithHash(h)}, []bloom.Option{bloom.WithHash(h), bloom.WithSeed(1 << 63)})
		}
	}
	for _, s := range append(bloom.Strategies(), bloom.NewStrategy("test", bloom.Definition{Positions: testkit.ByIndex(index)})) {
		if s.NeedsKey() {
			kinds = append(kinds, []bloom.Option{bloom.WithStrategy(s), bloom.WithSeed(5)})
			continue
		}
		for _, h := range hashes {
			kinds = append(kinds, append([]bloom.Option{bloom.WithStrategy(s)}, h...))
		}
	}
	return kinds
}

// TestStats: a view has the Stats of the filter with the same bits, and batches have the answers of single calls.
func TestStats(t *testing.T) {
	for _, opts := range kinds() {
		f := bloom.MustNew(100, 0.01, opts...)
		var keys [][]byte
		for i := range 150 {
			keys = append(keys, viewKey(i))
		}
		f.AddMany(keys[:100], nil)
		bytes := wordsOf(f)
		v := must(Over(f.Scheme(), bytes))
		require.Equal(t, f.Stats(), v.Stats())
		require.Equal(t, f.SizeBytes(), v.SizeBytes())
		found, want := make([]bool, len(keys)), make([]bool, len(keys))
		require.Equal(t, f.ContainsMany(keys, want), v.ContainsMany(keys, found))
		require.Equal(t, want, found)
		require.Equal(t, f.ContainsMany(keys, nil), v.ContainsMany(keys, nil))
		own := must(Over(f.Scheme(), make([]byte, len(bytes))))
		for _, key := range keys[:100] {
			own.Add(key)
		}
		require.Equal(t, f.Stats(), own.Stats())
	}
	for _, s := range strategies[1:] {
		for _, seed := range []uint64{0, 7} {
			data := built(t, 10, 100, s, bloom.WithSeed(seed), bloom.WithHash(bloom.RapidHash))
			stats := must(Parse(data)).Stats()
			require.InDelta(t, 100, stats.EstimatedCount, 15)
			require.Equal(t, []string{s.Name(), "rapidhash-v3"}, []string{stats.Strategy, stats.Hash})
		}
	}
	m := bloom.Params{M: 13, K: 1}
	over := must(Over(must(bloom.NewSchemeWithParams(m)), []byte{0, 0xff}))
	require.EqualValues(t, 5, over.Stats().Ones, "bits from m on do not count")
	require.Panics(t, func() { View{}.Stats() })
	require.Panics(t, func() { View{}.SizeBytes() })
}

// TestViewIsTheFilter: views of a filter's bytes, at any alignment, have its answers, and a Filter in
// bytes has its bits. A Writer that can have the kind of filter makes the same bits.
func TestViewIsTheFilter(t *testing.T) {
	t.Parallel()
	built := 0
	for _, opts := range kinds() {
		for _, keys := range []int{0, 1, 16, 300} {
			f := bloom.MustNew(uint64(keys), 0.01, opts...)
			for i := range keys {
				f.Add(viewKey(i))
			}
			words := wordsOf(f)
			for shift := range 9 {
				own, err := Over(f.Scheme(), make([]byte, shift+len(words))[shift:])
				require.NoError(t, err)
				for i := range keys {
					addOne(own, f.Scheme(), viewKey(i), i)
				}
				require.Equal(t, words, unsafe.Slice((*byte)(own.bits), own.bytes), "%v", f)
				view, err := Over(f.Scheme(), append(make([]byte, shift), words...)[shift:])
				require.NoError(t, err)
				sameAnswers(t, f, view.View, shift*40)
			}
			if data := maybeBuilt(t, f, keys, opts); data != nil {
				built++
				for shift := range 9 {
					view, err := Parse(append(make([]byte, shift), data...)[shift:])
					require.NoError(t, err)
					for i := range keys {
						require.True(t, view.Contains(viewKey(i)))
					}
				}
			}
		}
	}
	require.Equal(t, 4*3*4, built, "three strategies, two hashes with and without a seed")
}

// addOne adds a key in one of two ways.
func addOne(f Filter, s *bloom.Scheme, key []byte, way int) {
	if way%2 == 0 || s.Strategy().NeedsKey() {
		f.Add(key)
		return
	}
	f.AddDigest(s.Digest(key))
}

// sameAnswers compares lookups of present and absent keys.
func sameAnswers(t *testing.T, f *bloom.BloomFilter, v View, first int) {
	for i := first; i < first+100; i++ {
		key := viewKey(i)
		yes := f.Contains(key)
		got := [3]bool{v.Contains(key), v.ContainsString(string(key)), yes}
		if !f.Scheme().Strategy().NeedsKey() {
			got[2] = v.ContainsDigest(f.Scheme().Digest(key))
		}
		if got != [3]bool{yes, yes, yes} {
			t.Fatalf("%v, key %d: %v, want %v", f, i, got, yes)
		}
	}
}

// maybeBuilt returns what a Writer makes, with keys that are collected and with a known number, or
// nil if a trailer cannot name the kind. It has the bits of a filter with as many bits.
func maybeBuilt(t *testing.T, f *bloom.BloomFilter, keys int, opts []bloom.Option) []byte {
	for _, bitsPerKey := range []float64{1, 10, 33, 64} {
		b, err := NewWriter(bitsPerKey, f.Scheme().Strategy(), opts...)
		if err != nil {
			require.ErrorIs(t, err, bloom.ErrInvalid)
			require.Zero(t, bitsPerKey-1)
			return nil
		}
		dst := bytes.Repeat([]byte{0xff}, 2000)[:3]
		known, filter := b.empty(dst, keys)
		for i := range keys {
			b.Add(viewKey(i))
			addOne(filter, f.Scheme(), viewKey(i), i)
		}
		data := b.AppendTo(nil)
		require.Equal(t, data, known[3:])
		m := uint64(len(data)-trailerBytes) * 8
		require.GreaterOrEqual(t, float64(m), bitsPerKey*float64(keys))
		require.Less(t, float64(m), bitsPerKey*float64(keys)+512+1)
		g, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: m, K: b.scheme.Params().K}, opts...))
		require.NoError(t, err)
		for i := range keys {
			g.Add(viewKey(i))
		}
		require.Equal(t, wordsOf(g)[:m/8], data[:m/8], "%v, %v bits per key", g, bitsPerKey)
		v, err := Parse(data)
		require.NoError(t, err)
		sameAnswers(t, g, v, keys-50)
		if bitsPerKey == 64 {
			return data
		}
	}
	panic("not reached")
}

// TestViewOfAnyK: k and m that no Writer chooses, by a scheme.
func TestViewOfAnyK(t *testing.T) {
	t.Parallel()
	for _, s := range bloom.Strategies() {
		for k := 1; k <= maxK; k++ {
			if math.IsNaN(s.FalsePositiveRate(512, k, 1)) {
				continue // not a k of this strategy
			}
			for _, m := range []uint64{512, 512 * 3} {
				if s == bloom.DoubleHashing {
					m -= 413 // no whole byte
				}
				f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(s)))
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

func TestValues(t *testing.T) {
	zero.Values(t, View{}, Filter{}, new(Writer))
	v := must(Parse(built(t, 10, 3, bloom.DoubleHashing, bloom.WithSeed(42))))
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=murmur3:000000000000002a bytes=20)`, v.String())
	f := bloom.MustNew(10, 0.01)
	layeredtest.Log(t, v, must(Over(f.Scheme(), make([]byte, f.SizeBytes()))), View{})
}

// TestOverRefuses: the bytes must be those of m bits, or of the scheme's words.
func TestOverRefuses(t *testing.T) {
	s := bloom.MustNew(100, 0.01).Scheme()
	for _, size := range []int{0, 1, 127, 129, 120} {
		_, err := Over(s, make([]byte, size))
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("%d bytes, want 128 or 128", size))
	}
	odd := must(bloom.NewSchemeWithParams(bloom.Params{M: 77, K: 5}))
	for size := range 20 {
		f, err := Over(odd, make([]byte, size))
		if size == 10 || size == 16 {
			require.NoError(t, err)
			for i := range 100 { // in the last byte, too
				f.Add(viewKey(i))
			}
			require.Equal(t, byte(1<<(77%8)-1), unsafe.Slice((*byte)(f.bits), f.bytes)[9])
			continue
		}
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	for _, zero := range []*bloom.Scheme{nil, {}} {
		_, err := Over(zero, nil)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err := Over(bloom.MustNew(10, 0.1, bloom.WithHash(bloom.MapHash)).Scheme(), make([]byte, 8))
	require.ErrorIs(t, err, bloom.ErrNotPortable)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestAllocations: nothing allocates, except one slice for a filter of a known number of keys.
func TestAllocations(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector, which allocates in sync.Pool and slices.Grow")
	}
	for _, opts := range kinds() {
		f := bloom.MustNew(1000, 0.01, opts...)
		bits := make([]byte, f.SizeBytes())
		var key [40]byte
		require.Zero(t, testing.AllocsPerRun(100, func() {
			var key [40]byte
			own, err := Over(f.Scheme(), bits)
			if own.Add(key[:]); err != nil || !own.Contains(key[:]) {
				panic("a key is missing")
			}
			own.Add([]byte("x"))
			own.ContainsString("x")
		}), "%v", f)
		b, err := NewWriter(10, f.Scheme().Strategy(), opts...)
		if err != nil {
			continue
		}
		buf := make([]byte, 0, 4000)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for i := range 100 {
				key[0] = byte(i)
				b.Add(key[:])
			}
			buf = b.AppendTo(buf[:0])
			v, err := Parse(buf)
			if err != nil || !v.Contains(key[:]) {
				panic("a key is missing")
			}
		}), "%v", f)
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
			_, own := b.empty(nil, 1000)
			own.Add(key[:])
		}), "%v", f)
	}
}
