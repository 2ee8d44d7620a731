package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/format"

	"github.com/stretchr/testify/require"
)

const (
	fixedHeader = 48
	headerUnit  = 64
)

// headerBytes returns the size of a header with names of so many bytes.
func headerBytes(names int) int {
	return (fixedHeader + names + headerUnit - 1) / headerUnit * headerUnit
}

// headerOf returns the header of a filter with this scheme.
func headerOf(s Scheme) []byte {
	header, err := s.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return header
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
		{"double-hashing", func(b []byte) { b[7] = 2 }, ErrIncompatible, "the data has format version 2, want 1"},
		{"double-hashing", func(b []byte) { b[7] = 0 }, ErrIncompatible, "the data has format version 0, want 1"},
		{"double-hashing", func(b []byte) { b[12] = 0 }, ErrCorrupt, "k = 0 bits per key, want 1 to 64"},
		{"double-hashing", func(b []byte) { b[12] = 65 }, ErrCorrupt, "k = 65 bits per key, want 1 to 64"},
		{"double-hashing", named("", "murmur3"), ErrCorrupt, `strategy "", which no filter has`},
		{"double-hashing", named("blocked", "murmur3"), ErrCorrupt, `strategy "blocked", which no filter has`},
		{"double-hashing", named("double-hashing", ""), ErrCorrupt, `hash "", which no filter has`},
		{"double-hashing", named("Double-hashing", "murmur3"), ErrIncompatible, `the data's strategy is "Double-hashing", want one of that name by WithStrategy`},
		{"double-hashing", named("double-hashing\x00", "murmur3"), ErrIncompatible, `the data's strategy is "double-hashing\x00", want`},
		{"double-hashing", named("\x1b[2Jred", "murmur3"), ErrIncompatible, `the data's strategy is "\x1b[2Jred", want`},
		{"double-hashing", named("double-hashing", "\x1b[2Jred"), ErrIncompatible, `the data's hash is "\x1b[2Jred", want one of that name by WithHash`},
		{"double-hashing", named("double-hashing", "maphash"), ErrCorrupt, "its hash is maphash, which is never written"},
		{"double-hashing", named("double-hashing", "siphash"), ErrIncompatible, "want its secret key by WithKey"},
		{"double-hashing", named("double-hashing", "none"), ErrCorrupt, `no hash with strategy "double-hashing"`},
		{"seeded-hashing", named("seeded-hashing", "murmur3"), ErrCorrupt, `"seeded-hashing" has a hash of its own`},
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
		{"blocked-4", func(b []byte) { b[12] = 6 }, ErrCorrupt, `m = 1024 and k = 6 with strategy "blocked-4", want multiples of 512 and 4`},
		{"blocked-4", func(b []byte) { le.PutUint64(b[16:], 1023) }, ErrCorrupt, `m = 1023 and k = 8 with strategy "blocked-4"`},
		{"seeded-hashing", named("seeded-hashing", "siphash"), ErrIncompatible, "want its secret key"},
	} {
		data := golden(t, c.name, filters[c.name].f)
		c.edit(data)
		f, err := Read(bytes.NewReader(forge(data)))
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
	keyed := keyedHasher(testKey)
	named("seeded-hashing", "siphash")(data)
	le.PutUint64(data[40:], keyed.checkValue())
	_, err := Read(bytes.NewReader(forge(data)), WithKey(testKey))
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, `"seeded-hashing" has a hash of its own`)

	// What is allowed to change, and the forger's work is sound: n, p and seed.
	data = golden(t, "double-hashing", filters["double-hashing"].f)
	le.PutUint64(data[24:], math.MaxUint64)
	le.PutUint64(data[32:], 0)
	le.PutUint64(data[40:], 9)
	f, err := Read(bytes.NewReader(forge(data)))
	require.NoError(t, err)
	require.Equal(t, Params{N: math.MaxUint64, M: 961, K: 7}, f.Params())
	require.True(t, bytes.Equal(data, marshal(t, f)))
}

// TestDamagedHeaderIsNotFollowed: the header has a checksum of its own, so that no word
// is read on its word.
func TestDamagedHeaderIsNotFollowed(t *testing.T) {
	f, err := NewWithParams(Params{M: 1 << 20, K: 7})
	require.NoError(t, err)
	data := marshal(t, f)
	for i := range headerUnit * 8 {
		data[i/8] ^= 1 << (i % 8)
		var g BloomFilter
		n, err := g.ReadFrom(bytes.NewReader(data))
		require.ErrorIs(t, err, ErrCorrupt, "bit %d", i)
		require.LessOrEqual(t, n, int64(format.MaxHeader), "bit %d", i)
		data[i/8] ^= 1 << (i % 8)
	}
}
