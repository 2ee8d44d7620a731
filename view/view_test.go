package view

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
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
						require.Equal(t, want, v.ContainsHash(f.Hash(key)))
						require.Equal(t, want, of.ContainsHash(f.Hash(key)))
					}
				}
			}
		}
	}
	var zero View
	require.False(t, zero.ContainsString("x"))
	require.False(t, zero.ContainsHash(1, 2))
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
				if v.ContainsHash(scheme.Hash(viewKey(i))) {
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
					b.AddHash(bloom.Digest64(uint64(f*keys + i)))
				}
				size := b.SizeBytes() - trailerBytes
				v, err := New(b.AppendTo(nil))
				require.NoError(t, err)
				for i := range asked {
					if v.ContainsHash(bloom.Digest64(1<<40 + uint64(f*asked+i))) {
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

// TestViewDamage: whatever happens to a trailer or a length is noticed.
func TestViewDamage(t *testing.T) {
	t.Parallel()
	tried := 0
	refused := func(data []byte) {
		_, err := New(data)
		require.True(t, err != nil, "%x", data)
		require.True(t, isAny(err, bloom.ErrCorrupt, bloom.ErrIncompatible), "%v", err)
		tried++
	}
	for _, s := range all {
		for _, keys := range []int{1, 40} {
			data := built(t, 10, keys, s, bloom.WithSeed(3))
			at := len(data) - trailerBytes
			for i := at; i < len(data); i++ {
				for x := 1; x < 256; x++ {
					damaged := bytes.Clone(data)
					damaged[i] ^= byte(x)
					refused(damaged)
				}
				for j := at; j < i; j++ { // two bits
					for bits := range 64 {
						damaged := bytes.Clone(data)
						damaged[i] ^= 1 << (bits % 8)
						damaged[j] ^= 1 << (bits / 8)
						refused(damaged)
					}
				}
			}
			for length := range data {
				refused(data[:length])
				refused(append(bytes.Clone(data[:length]), data[at:]...)[len(data)-at:]) // bits lost in the middle
			}
			for more := 1; more < 100; more++ {
				refused(append(bytes.Clone(data), make([]byte, more)...))
				refused(append(make([]byte, more), data...))
			}
		}
	}
	t.Logf("%d damages, all refused", tried)
}

// forgeView returns bits with a trailer whose check is right.
func forgeView(bits int, seed uint64, k, strategy, hash, version byte) []byte {
	meta := uint32(k) | uint32(strategy)<<8 | uint32(hash)<<16 | uint32(version)<<24
	dst := binary.LittleEndian.AppendUint64(make([]byte, bits/8), seed)
	dst = binary.LittleEndian.AppendUint32(dst, meta)
	return binary.LittleEndian.AppendUint32(dst, check(uint64(bits), seed, meta))
}

func TestViewForged(t *testing.T) {
	for _, c := range []struct {
		bits                       int
		k, strategy, hash, version byte
		want                       error
	}{
		{512, 7, 1, 1, 1, nil},
		{512, 8, 5, 1, 1, nil},
		{8, 64, 1, 0, 1, nil},
		{0, 7, 1, 1, 1, bloom.ErrCorrupt},
		{512, 0, 1, 1, 1, bloom.ErrCorrupt},
		{512, 65, 1, 1, 1, bloom.ErrCorrupt},
		{512, 8, 0, 1, 1, bloom.ErrCorrupt},
		{256, 8, 6, 1, 1, nil},
		{512, 8, 7, 1, 1, bloom.ErrCorrupt},
		{512, 16, 6, 1, 1, bloom.ErrCorrupt},
		{264, 8, 6, 1, 1, bloom.ErrCorrupt},
		{512, 8, 34, 1, 1, bloom.ErrCorrupt},
		{512, 8, 255, 1, 1, bloom.ErrCorrupt},
		{512, 7, 3, 1, 1, bloom.ErrCorrupt},
		{512, 6, 4, 1, 1, bloom.ErrCorrupt},
		{512, 12, 5, 1, 1, bloom.ErrCorrupt},
		{512, 0, 5, 1, 1, bloom.ErrCorrupt},
		{512, 72, 5, 1, 1, bloom.ErrCorrupt},
		{504, 8, 2, 1, 1, bloom.ErrCorrupt},
		{520, 8, 5, 1, 1, bloom.ErrCorrupt},
		{512, 8, 5, 2, 1, bloom.ErrCorrupt},
		{512, 8, 5, 1, 0, bloom.ErrCorrupt},
		{512, 8, 5, 1, 2, bloom.ErrIncompatible},
	} {
		data := forgeView(c.bits, 0, c.k, c.strategy, c.hash, c.version)
		v, err := New(data)
		if c.want == nil {
			require.NoError(t, err)
			require.Equal(t, c.hash == 0, v.ContainsString("x"))
			continue
		}
		require.ErrorIs(t, err, c.want, "%+v", c)
	}
}

// TestViewsAreFrozen: the bytes of each strategy, for ever.
func TestViewsAreFrozen(t *testing.T) {
	for _, c := range []struct {
		s    bloom.Strategy
		bits float64
		opts []bloom.Option
		want string
	}{
		{bloom.DoubleHashing, 10, nil, "19d393c69cac41000000000000000007010101dfafa5e3"},
		{bloom.DoubleHashing, 10, []bloom.Option{bloom.WithSeed(7)}, "a44665619c8da9127c4a7fb979379e07010101ab530246"},
		{bloom.DoubleHashing, 10, []bloom.Option{bloom.WithKey(testKey)}, "821ca07acf30e400000000000000000701000190269956"},
		{bloom.SplitBlock, 10, nil, "08040211012300404040000a640008000002220800480a1000a4001814008410000000000000000008060101b9ddfacf"},
		{bloom.Blocked1, 5, nil, "001800000000000200000000000000003008000000000000000000000000000000000000000000000000020040000001000000000000000084000080000023000000000000000000030201012c7da9a6"},
		{bloom.Blocked, 10, nil, "001800000200000030020000000000000000000040000003800400000100230000000000000000000008001a00000082000000000000000004490280808040000000000000000000060301016e0a9443"},
		{bloom.Blocked, 16, nil, "10120000020000000004000041002102000102000000008204080090800040002088000008000000800040040040020100000000000000008068848a00800000000000000000000008040101f58da5f9"},
		{bloom.Blocked, 40, nil, "1410a000400031004408028001010002a80806000000030100c9004a008000000006200043000016810500108002408000a86004084000118020c4800920000800000000000000001005010163964180"},
	} {
		data := built(t, c.bits, 5, c.s, c.opts...)
		require.Equal(t, c.want, hex.EncodeToString(data), "%s at %v", c.s, c.bits)
		raw, err := hex.DecodeString(c.want)
		require.NoError(t, err)
		v, err := New(raw)
		require.NoError(t, err)
		for i := range 5 {
			require.True(t, v.Contains(viewKey(i)))
		}
	}
}

func TestViewBuilder(t *testing.T) {
	b, err := NewBuilder(10, bloom.DoubleHashing)
	require.NoError(t, err)
	b.Add([]byte("a"))
	b.Add([]byte("a"))
	b.Add([]byte("b"))
	b.AddHash(bloom.MustNew(1, 0.1).Hash([]byte("b")))
	require.Equal(t, 3+trailerBytes, b.SizeBytes(), "two keys, each once")
	before := []byte("what was there before")
	data := b.AppendTo(bytes.Clone(before))
	require.Equal(t, before, data[:len(before)])
	v, err := New(data[len(before):])
	require.NoError(t, err)
	require.True(t, v.ContainsString("a") && v.ContainsString("b"))

	require.Equal(t, 1+trailerBytes, b.SizeBytes(), "no keys")
	dirty := bytes.Repeat([]byte{255}, 100)
	none, err := New(b.AppendTo(dirty[:0]))
	require.NoError(t, err)
	for i := range 100 {
		require.False(t, none.Contains(viewKey(i)))
	}

	for _, c := range []struct {
		bits float64
		s    bloom.Strategy
		opt  bloom.Option
		want error
		text string
	}{
		{0.5, bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "0.5 bits a key, want 1 to 1000"},
		{1001, bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "1001 bits a key"},
		{math.NaN(), bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "NaN bits a key"},
		{10, bloom.SeededHashing, bloom.WithSeed(0), bloom.ErrInvalid, `a view with strategy "seeded-hashing", want DoubleHashing, Blocked or SplitBlock`},
		{10, bloom.NewStrategy("own", bloom.Definition{Index: index}), bloom.WithSeed(0), bloom.ErrInvalid, `a view with strategy "own"`},
		{10, bloom.Strategy{}, bloom.WithSeed(0), bloom.ErrInvalid, "the zero Strategy"},
		{10, bloom.DoubleHashing, nil, bloom.ErrInvalid, "nil"},
	} {
		_, err := NewBuilder(c.bits, c.s, c.opt)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
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
	keyed, err := New(built(t, 10, 3, bloom.DoubleHashing, bloom.WithKey(testKey)))
	require.NoError(t, err)
	require.Equal(t, `view.View(m=32 k=7 strategy="double-hashing" hash=other bytes=20)`, keyed.String())
	f := bloom.MustNew(10, 0.01, bloom.WithKey(testKey))
	of, err := Over(f.Scheme(), make([]byte, f.SizeBytes()))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("view.View(%s bytes=16)", f.Scheme().Identity()), of.String())
	require.Equal(t, "view.View()", View{}.String())
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
	data := built(t, 10, 1000, bloom.DoubleHashing)
	b, err := NewBuilder(10, bloom.DoubleHashing)
	require.NoError(t, err)
	buf := make([]byte, 0, 4000)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [8]byte
		v, err := New(data)
		if err != nil || v.Contains(key[:]) && v.ContainsString("x") && v.ContainsHash(1, 2) {
			panic("these are not in it")
		}
		for i := range 100 {
			key[0] = byte(i)
			b.Add(key[:])
		}
		buf = b.AppendTo(buf[:0])
	}))
}

// FuzzView: no bytes make it panic or read outside, and those that it takes are a filter.
func FuzzView(f *testing.F) {
	for _, s := range all {
		f.Add(built(f, 10, 3, s), []byte("key 1"), false)
	}
	f.Add(forgeView(512, 0, 8, 6, 1, 1), []byte("x"), true)
	f.Add([]byte{}, []byte{}, true)
	f.Fuzz(func(t *testing.T, data, key []byte, forge bool) {
		data = bytes.Clone(data)                            // exactly as long as it is
		if n := len(data) - trailerBytes; forge && n >= 0 { // a check that is right
			meta := binary.LittleEndian.Uint32(data[n+8:])
			binary.LittleEndian.PutUint32(data[n+12:], check(uint64(n)*8, binary.LittleEndian.Uint64(data[n:]), meta))
		}
		v, err := New(data)
		if err != nil {
			if !isAny(err, bloom.ErrCorrupt, bloom.ErrIncompatible) {
				t.Fatal(err)
			}
			v.Contains(key)
			return
		}
		n := len(data) - trailerBytes
		was := v.Contains(key)
		if data[n+10] == otherHash {
			if !was {
				t.Fatal("a hash that is not named, and an answer of false")
			}
			return
		}
		seed := binary.LittleEndian.Uint64(data[n:])
		h1, h2 := murmur3.SeedSum128(seed, seed, key)
		if was != v.ContainsHash(h1, h2) {
			t.Fatal("Contains and ContainsHash differ")
		}
		addToBytes(data[:n], uint64(n)*8, int(data[n+8]), data[n+9], h1, h2^probe.Xor)
		if !v.Contains(key) {
			t.Fatal("a key that was added is missed")
		}
	})
}

func isAny(err error, sentinels ...error) bool {
	return slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}
