package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

func TestReadOptionsMustAgree(t *testing.T) {
	other := testKey
	other[3]++
	plain := marshal(t, MustNew(10, 0.1, WithSeed(17)))
	keyed := marshal(t, MustNew(10, 0.1, WithSecret(testKey), WithStrategy(Blocked)))
	rapid := marshal(t, MustNew(10, 0.1, WithHash(RapidHash), WithSeed(17)))
	named := marshal(t, MustNew(10, 0.1, WithStrategy(triple)))
	hashed := marshal(t, MustNew(10, 0.1, WithHash(customHash64)))
	for _, c := range []struct {
		data []byte
		opts []Option
		text string // of the error, or "" for none
	}{
		{plain, nil, ""},
		{plain, []Option{WithSeed(17), WithHash(Murmur3), WithStrategy(DoubleHashing), WithMaxBytes(8)}, ""},
		{plain, []Option{WithSeed(18)}, "the data's seed is 17, want 18"},
		{plain, []Option{WithHash(MapHash)}, "the data's hash is \"murmur3\", want \"maphash\""},
		{plain, []Option{WithSecret(testKey)}, "the data's hash is \"murmur3\" without a secret, want the given one"},
		{plain, []Option{WithStrategy(Blocked)}, `the data's strategy is "double-hashing", want "blocked"`},
		{plain, []Option{WithStrategy(SeededHashing)}, `the data's strategy is "double-hashing", want "seeded-hashing"`},
		{plain, []Option{WithStrategy(triple)}, `the data's strategy is "double-hashing", want "triple"`},
		{plain, []Option{WithHash(RapidHash)}, "the data's hash is \"murmur3\", want \"rapidhash-v3\""},
		{rapid, nil, ""},
		{rapid, []Option{WithHash(RapidHash), WithSeed(17)}, ""},
		{rapid, []Option{WithSeed(18)}, "the data's seed is 17, want 18"},
		{rapid, []Option{WithHash(Murmur3)}, "the data's hash is \"rapidhash-v3\", want \"murmur3\""},
		{rapid, []Option{WithSecret(testKey)}, "the data's hash is \"rapidhash-v3\" without a secret, want the given one"},
		{keyed, []Option{WithSecret(testKey)}, ""},
		{keyed, []Option{WithSecret(testKey), WithStrategy(Blocked)}, ""},
		{keyed, []Option{WithSecret(testKey), WithStrategy(SplitBlock)}, `the data's strategy is "blocked", want "split-block"`},
		{keyed, nil, "the data's hash is \"siphash\", want its secret by WithSecret"},
		{keyed, []Option{WithHash(Murmur3)}, "the data's hash is \"siphash\", want \"murmur3\""},
		{keyed, []Option{WithHash(Murmur3), WithSecret(testKey)}, "the data's hash is \"siphash\", want \"murmur3\""},
		{keyed, []Option{WithSecret(other)}, "the data was made with another secret than the given one"},
		{keyed, []Option{WithSeed(11)}, "the data's hash is \"siphash\" with a secret, want seed 11"},
		{keyed, []Option{WithHash(MapHash), WithSecret(testKey)}, "the data's hash is \"siphash\", want \"maphash\""},
		{named, []Option{WithStrategy(triple)}, ""},
		{named, nil, `the data's strategy is "triple", want one of that name by WithStrategy`},
		{named, []Option{WithStrategy(NewStrategy("other", tripleDefinition))}, `the data's strategy is "triple", want "other"`},
		{named, []Option{WithStrategy(DoubleHashing)}, `the data's strategy is "triple", want "double-hashing"`},
		{hashed, []Option{WithHash(customHash64)}, ""},
		{hashed, nil, `the data's hash is "fnv-mixed", want one of that name by WithHash`},
		{hashed, []Option{WithHash(customHash)}, `the data's hash is "fnv-mixed", want "murmur3-77"`},
		{hashed, []Option{WithHash(Murmur3)}, `the data's hash is "fnv-mixed", want "murmur3"`},
		{hashed, []Option{WithHash(customHash64), WithSecret(testKey)}, `the data's hash is "fnv-mixed" without a secret, want the given one`},
		{hashed, []Option{WithHash(customHash64), WithSeed(5)}, `the data's hash is "fnv-mixed" without a seed, want seed 5`},
		{plain, []Option{WithHash(customHash64)}, `the data's hash is "murmur3", want "fnv-mixed"`},
	} {
		_, err := Read(bytes.NewReader(c.data), c.opts...)
		_, ofScheme := ReadScheme(bytes.NewReader(c.data), c.opts...)
		require.Equal(t, err, ofScheme)
		if c.text == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrIncompatible)
		require.EqualError(t, err, "bloom: incompatible filters: "+c.text)
	}

	// What is wrong with the option is no fault of the data.
	for _, data := range [][]byte{plain, named} {
		for text, s := range map[string]Strategy{
			`strategy "triple" has both or neither of Positions`:  NewStrategy("triple", Definition{}),
			`strategy "blocked" has a name that is taken by this`: NewStrategy("blocked", tripleDefinition),
		} {
			_, err := Read(bytes.NewReader(data), WithStrategy(s))
			require.ErrorIs(t, err, ErrInvalid)
			require.NotErrorIs(t, err, ErrCorrupt)
			require.ErrorContains(t, err, text)
		}
	}

	// The same by a receiver's own key and strategy.
	for _, c := range []struct {
		into *BloomFilter
		data []byte
		ok   bool
	}{
		{MustNew(5, 0.5, WithSecret(testKey)), keyed, true},
		{MustNew(5, 0.5, WithSecret(other)), keyed, false},
		{MustNew(5, 0.5), keyed, false},
		{MustNew(5, 0.5, WithSecret(testKey)), plain, false},
		{MustNew(5, 0.5, WithStrategy(Blocked), WithSeed(1)), plain, true},
		{MustNew(5, 0.5, WithHash(MapHash)), plain, true},
		{MustNew(5, 0.5, WithStrategy(triple)), named, true},
		{MustNew(5, 0.5, WithStrategy(triple)), plain, false},
		{MustNew(5, 0.5), named, false},
		{MustNew(5, 0.5, WithHash(customHash64)), hashed, true},
	} {
		before := *c.into
		if err := c.into.UnmarshalBinary(c.data); c.ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrIncompatible)
			require.Same(t, &before.bits[0], &c.into.bits[0])
			require.Equal(t, before.Params(), c.into.Params())
		}
	}
}

// TestReaderThatFails at every byte, and one whose bytes end there: the error is
// the reader's, or says that the end came too early; the receiver stays as it was.
func TestReaderThatFails(t *testing.T) {
	fails := errors.New("connection lost")
	data := marshal(t, portables(t)["triple-key"].f)
	g := MustNew(5, 0.5, WithStrategy(triple), WithSecret(testKey))
	g.AddString("old")
	old := g.Clone()
	for at := range data {
		n, err := g.readFrom(io.MultiReader(bytes.NewReader(data[:at]), iotest.ErrReader(fails)))
		require.ErrorIs(t, err, fails)
		require.NotErrorIs(t, err, ErrCorrupt)
		require.Regexp(t, "^bloom: reading the (header|words|checksum): connection lost$", err.Error())
		require.Equal(t, int64(at), n)

		n, err = g.readFrom(bytes.NewReader(data[:at]))
		require.Equal(t, int64(at), n)
		if at == 0 {
			require.True(t, err == io.EOF)
		} else {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.ErrorIs(t, err, ErrCorrupt)
		}
		same(t, old, g)
	}
}

const (
	fixedHeader = 48
	headerUnit  = 64
)

// headerBytes returns the size of a header with names of so many bytes.
func headerBytes(names int) int {
	return (fixedHeader + names + headerUnit - 1) / headerUnit * headerUnit
}

// forge recomputes the checksums, as someone would who means ill.
func forge(data []byte) []byte {
	h := headerBytes(int(data[13]) + int(data[14]))
	if len(data) < h+format.TrailerBytes {
		return data
	}
	format.SetSum(data[:h])
	var sum format.Checksum
	sum.Add(data[:len(data)-format.TrailerBytes])
	return sum.AppendTrailer(data[:len(data)-format.TrailerBytes])
}

// named returns an edit of a header: other names, in as many units.
func named(strategy, hash string) func(header []byte) {
	return func(b []byte) {
		header := b[:headerBytes(int(b[13])+int(b[14]))]
		b[13], b[14] = byte(len(strategy)), byte(len(hash))
		clear(header[fixedHeader:])
		copy(header[fixedHeader:], strategy+hash)
	}
}

// TestReaderBringsWhatTheDataSays: a custom hash of the right name and the other number of bits, and a
// custom strategy of the right name and the other kind, are refused as incompatible: the data is
// sound, and a program that deletes corrupt files must not delete it.
func TestReaderBringsWhatTheDataSays(t *testing.T) {
	h64, h128 := NewHash64("h", func([]byte) uint64 { return 1 }), NewHash("h", func([]byte) (uint64, uint64) { return 1, 2 })
	digests, keys := NewStrategy("s", tripleDefinition), NewStrategy("s", definitionOf(customSeeded))
	options := map[string][]Option{
		"64":          {WithHash(h64)},
		"128":         {WithHash(h128)},
		"digests":     {WithStrategy(digests)},
		"keys":        {WithStrategy(keys)},
		"digests, 64": {WithStrategy(digests), WithHash(h64)},
	}
	for wrote, opts := range options {
		f := MustNew(10, 0.1, opts...)
		f.AddString("x")
		data := marshal(t, f)
		for reads, opts := range options {
			got, err := Read(bytes.NewReader(data), opts...)
			if wrote == reads {
				require.NoError(t, err)
				require.True(t, got.Equal(f))
				continue
			}
			require.ErrorIs(t, err, ErrIncompatible, "%s read with %s", wrote, reads)
			require.NotErrorIs(t, err, ErrCorrupt)
			var texts [2]string
			if other := MustNew(10, 0.1, opts...); other.Params() == f.Params() {
				_, err = fmt.Sscanf(f.Union(other).Error(), "bloom: incompatible filters: %s %s and %s", new(string), &texts[0], &texts[1])
				require.NoError(t, err)
				require.NotEqual(t, texts[0], texts[1], "%s and %s", wrote, reads)
			}
		}
	}
	// Files of the format's first version have seeds with another meaning.
	_, err := Read(bytes.NewReader(must(os.ReadFile("testdata/version-1"))))
	require.ErrorIs(t, err, ErrIncompatible)
	require.ErrorContains(t, err, "the data has format version 1, want 2")
}

// TestForgedFields: with the checksums right, every field is still checked against
// the others and the bytes that are there.
func TestForgedFields(t *testing.T) {
	le := binary.LittleEndian
	filters := portables(t)
	for _, c := range []struct {
		name string
		edit func(b []byte)
		is   error
		text string
	}{
		{"double-hashing", func(b []byte) { b[7] = 3 }, ErrIncompatible, "the data has format version 3, want 2"},
		{"double-hashing", func(b []byte) { b[7] = 1 }, ErrIncompatible, "the data has format version 1, want 2"},
		{"double-hashing", func(b []byte) { b[12] = 0 }, ErrCorrupt, "k = 0, want 1 to 64"},
		{"double-hashing", func(b []byte) { b[12] = 65 }, ErrCorrupt, "k = 65, want 1 to 64"},
		{"double-hashing", named("", "murmur3"), ErrCorrupt, "its strategy has an empty name"},
		{"double-hashing", named("double-hashing", ""), ErrCorrupt, "its hash has an empty name"},
		{"double-hashing", named("Double-hashing", "murmur3"), ErrIncompatible, `the data's strategy is "Double-hashing", want one of that name by WithStrategy`},
		{"double-hashing", named("double-hashing\x00", "murmur3"), ErrIncompatible, `the data's strategy is "double-hashing\x00", want`},
		{"double-hashing", named("\x1b[2Jred", "murmur3"), ErrIncompatible, `the data's strategy is "\x1b[2Jred", want`},
		{"double-hashing", named("double-hashing", "\x1b[2Jred"), ErrIncompatible, `the data's hash is "\x1b[2Jred", want one of that name by WithHash`},
		{"double-hashing", named("double-hashing", "maphash"), ErrCorrupt, "its hash is maphash, which is never written"},
		{"double-hashing", named("double-hashing", "siphash"), ErrIncompatible, "want its secret by WithSecret"},
		{"double-hashing", named("double-hashing", "none"), ErrCorrupt, `strategy "double-hashing" with hash "none"`},
		{"seeded-hashing", named("seeded-hashing", "murmur3"), ErrCorrupt, `strategy "seeded-hashing" with hash "murmur3"`},
		{"double-hashing", func(b []byte) { b[14] = 6 }, ErrCorrupt, "byte 68 of the header is 0x33, want 0"},
		{"double-hashing", func(b []byte) { b[15] = 1 }, ErrCorrupt, "byte 15 of the header is 0x1, want 0"},
		{"double-hashing", func(b []byte) { b[127] = 1 }, ErrCorrupt, "byte 127 of the header is 0x1, want 0"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 0) }, ErrCorrupt, "m = 0 bits, want at least 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 960) }, ErrCorrupt, "checksum"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 1025) }, ErrCorrupt, "it ends within the checksum: unexpected EOF"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 1<<62) }, ErrTooLarge, "m = 4611686018427387904 bits are"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], math.MaxUint64) }, ErrTooLarge, "are 2305843009213693952 bytes"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(math.NaN())) }, ErrCorrupt, "p = NaN, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(1)) }, ErrCorrupt, "p = 1, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(-0.5)) }, ErrCorrupt, "p = -0.5, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { b[39] = 0x80; clear(b[32:39]) }, ErrCorrupt, "p = -0, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(math.Inf(1))) }, ErrCorrupt, "p = +Inf, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { b[128+15*8] |= 2 }, ErrCorrupt, "has bits beyond m = 961, want none"},
		{"blocked", func(b []byte) { b[12] = 7 }, ErrCorrupt, `m = 1024 and k = 7 with strategy "blocked", want multiples of 512 and 2`},
		{"blocked", func(b []byte) { le.PutUint64(b[16:], 1023) }, ErrCorrupt, `m = 1023 and k = 8 with strategy "blocked"`},
		{"seeded-hashing", named("seeded-hashing", "siphash"), ErrIncompatible, "want its secret"},
	} {
		data := golden(t, c.name, filters[c.name].f)
		c.edit(data)
		f, err := Read(bytes.NewReader(forge(data)), WithMaxBytes(1<<30)) // some systems do not tell their memory
		require.Nil(t, f)
		require.ErrorIs(t, err, c.is, c.text)
		require.ErrorContains(t, err, c.text)
		require.Regexp(t, "^bloom: ", err.Error())
		require.Equal(t, 1, strings.Count(err.Error(), "bloom: "), "%v", err)
		kinds := 0
		for _, kind := range []error{ErrInvalid, ErrTooLarge, ErrIncompatible, ErrNotPortable, ErrCorrupt} {
			if errors.Is(err, kind) {
				kinds++
			}
		}
		require.Equal(t, 1, kinds, "%v", err)
	}

	// SeededHashing has no key, even if the key is right.
	data := golden(t, "seeded-hashing", filters["seeded-hashing"].f)
	named("seeded-hashing", "siphash")(data)
	le.PutUint64(data[40:], secretCheck(keyed(testKey)))
	_, err := Read(bytes.NewReader(forge(data)), WithSecret(testKey))
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, `strategy "seeded-hashing" with hash "siphash"`)

	// A custom hash has its number of bits instead of a seed.
	data = golden(t, "custom-hash", filters["custom-hash"].f)
	le.PutUint64(data[40:], 3)
	_, err = Read(bytes.NewReader(forge(data)), WithHash(customHash))
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, `hash "murmur3-77" of 3 bits, want 64 or 128`)

	// What is allowed to change, and the forger's work is sound: n, p and seed.
	data = golden(t, "double-hashing", filters["double-hashing"].f)
	le.PutUint64(data[24:], math.MaxUint64)
	le.PutUint64(data[32:], 0)
	le.PutUint64(data[40:], 9)
	f := must(Read(bytes.NewReader(forge(data))))
	require.Equal(t, Params{N: math.MaxUint64, M: 961, K: 7}, f.Params())
	require.True(t, bytes.Equal(data, marshal(t, f)))
}

// TestDamagedHeaderIsNotFollowed: the header has a checksum of its own, so that no word
// is read on its word.
func TestDamagedHeaderIsNotFollowed(t *testing.T) {
	f := must(newWithParams(Params{M: 1 << 20, K: 7}))
	data := marshal(t, f)
	for i := range headerUnit * 8 {
		data[i/8] ^= 1 << (i % 8)
		var g BloomFilter
		n, err := g.readFrom(bytes.NewReader(data))
		require.ErrorIs(t, err, ErrCorrupt, "bit %d", i)
		require.LessOrEqual(t, n, int64(format.MaxHeader), "bit %d", i)
		data[i/8] ^= 1 << (i % 8)
	}
}

// TestTwoFlippedBits of a file are noticed, as Read says. TestConformance flips single ones.
func TestTwoFlippedBits(t *testing.T) {
	data := golden(t, "one-bit", portables(t)["one-bit"].f)
	step := testkit.Times(31, 31, 1) // of half a million pairs
	for i := range len(data) * 8 {
		for j := i % step; j < i; j += step {
			data[i/8], data[j/8] = data[i/8]^1<<(i%8), data[j/8]^1<<(j%8)
			_, err := Read(bytes.NewReader(data))
			require.ErrorIs(t, err, ErrCorrupt, "bits %d and %d", i, j)
			data[i/8], data[j/8] = data[i/8]^1<<(i%8), data[j/8]^1<<(j%8)
		}
	}
}

// TestReadNames of filters whose options are not given.
func TestReadNames(t *testing.T) {
	for name, p := range portables(t) {
		strategy, hash, err := ReadNames(bytes.NewReader(marshal(t, p.f)))
		require.NoError(t, err)
		require.Equal(t, []string{p.f.Scheme().Strategy().Name(), p.f.scheme.hash.name}, []string{strategy, hash}, name)
	}
	_, _, err := ReadNames(strings.NewReader("something else"))
	require.ErrorIs(t, err, ErrCorrupt)
}
