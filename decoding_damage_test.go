package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/format"

	"github.com/stretchr/testify/require"
)

// A vandal offers damaged bytes and counts. None may be accepted, none may panic,
// and each must be told from a filter that is only incompatible.
type vandal struct {
	t     testing.TB
	opts  []Option
	tried int
}

func (v *vandal) offer(damaged []byte, what string, args ...any) {
	v.tried++
	f, err := Read(bytes.NewReader(damaged), v.opts...)
	if f != nil || !errors.Is(err, ErrCorrupt) {
		v.t.Fatalf(what+": %v, %v", append(args, f, err)...)
	}
}

// allocated returns how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestEveryBitFlipAndTruncation of the golden files is refused, and costs no more
// memory than a small multiple of the bytes.
func TestEveryBitFlipAndTruncation(t *testing.T) {
	flips, cuts := vandal{t: t}, vandal{t: t}
	most := uint64(0)
	for name, p := range portables(t) {
		data := golden(t, name, p.f)
		flips.opts, cuts.opts = p.opts, p.opts
		for i := range data {
			most = max(most, allocated(func() {
				for bit := range 8 {
					data[i] ^= 1 << bit
					flips.offer(data, "%s: bit %d of byte %d flipped", name, bit, i)
					data[i] ^= 1 << bit
				}
			})/8)
			if i > 0 {
				cuts.offer(data[:i], "%s: cut to %d bytes", name, i)
			}
		}
		_, err := Read(bytes.NewReader(data), p.opts...)
		require.NoError(t, err)
	}
	t.Logf("%d flips, %d truncations refused; at most %d bytes allocated for one", flips.tried, cuts.tried, most)
	require.Less(t, most, uint64(4<<10))
}

// TestEveryBitFlipOfText is refused too, also in bits that base64 has no use for.
func TestEveryBitFlipOfText(t *testing.T) {
	for _, name := range []string{"one-bit", "empty", "double-hashing"} {
		text, err := portables(t)[name].f.MarshalText()
		require.NoError(t, err)
		for i := range len(text) * 8 {
			var f BloomFilter
			text[i/8] ^= 1 << (i % 8)
			if err := f.UnmarshalText(text); !errors.Is(err, ErrCorrupt) || f.bits != nil {
				t.Fatalf("%s: bit %d flipped: %v", name, i, err)
			}
			text[i/8] ^= 1 << (i % 8)
		}
	}
}

// TestOtherDamage: what disks, copies and editors do, with -long to all golden files.
func TestOtherDamage(t *testing.T) {
	sequential(t)
	t.Parallel()
	v := vandal{t: t}
	filters := portables(t)
	for name, p := range filters {
		if !*effort.Long && name != "triple-key" && name != "one-bit" {
			continue
		}
		v.opts = p.opts
		data := golden(t, name, p.f)
		for i, old := range data {
			for b := range 256 {
				if data[i] = byte(b); data[i] != old {
					v.offer(data, "%s: byte %d is %d", name, i, b)
				}
			}
			data[i] = old
			v.offer(append(bytes.Clone(data[:i]), data[i+1:]...), "%s: byte %d left out", name, i)
			if inserted := append(append(bytes.Clone(data[:i]), old), data[i:]...); i > 0 && !bytes.HasPrefix(inserted, data) {
				v.offer(inserted, "%s: byte %d doubled", name, i)
			}
			zeroed := append(bytes.Clone(data[:i]), make([]byte, len(data)-i)...)
			if !bytes.Equal(zeroed, data) {
				v.offer(zeroed, "%s: zeros from %d on", name, i)
			}
			for j := range i &^ 7 / 8 {
				if swapped := bytes.Clone(data); i%8 == 0 && !bytes.Equal(data[8*j:][:8], data[i:][:8]) {
					copy(swapped[8*j:][:8], data[i:][:8])
					copy(swapped[i:][:8], data[8*j:][:8])
					v.offer(swapped, "%s: words %d and %d swapped", name, j, i/8)
				}
			}
		}
		for other, q := range filters {
			if q.f.Params().M == p.f.Params().M && other != name {
				v.offer(append(bytes.Clone(data[:headerUnit]), golden(t, other, q.f)[headerUnit:]...), "header of %s, words of %s", name, other)
			}
		}
		v.offer(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), "%s: as text for Windows", name)
	}
	v.opts = nil
	data := golden(t, "one-bit", filters["one-bit"].f)
	for i := range len(data) * 8 {
		for j := range i {
			data[i/8], data[j/8] = data[i/8]^1<<(i%8), data[j/8]^1<<(j%8)
			v.offer(data, "bits %d and %d flipped", i, j)
			data[i/8], data[j/8] = data[i/8]^1<<(i%8), data[j/8]^1<<(j%8)
		}
	}
	for _, b := range []string{"\x00", "{}", "RIFF", "\x89PNG\r\n\x1a\n", "\x89bloom\r\n", "\x89bloom"} {
		v.offer([]byte(b), "%q", b)
		v.offer(append([]byte(b), make([]byte, 1000)...), "%q and zeros", b)
	}
	t.Logf("%d damaged files refused", v.tried)
}

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
		{"double-hashing", func(b []byte) { b[12] = 0 }, ErrCorrupt, "k = 0 bits a key, want 1 to 64"},
		{"double-hashing", func(b []byte) { b[12] = 65 }, ErrCorrupt, "k = 65 bits a key, want 1 to 64"},
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
		{"double-hashing", func(b []byte) { le.PutUint64(b[40:], 8) }, ErrCorrupt, `seed 8 with hash "murmur3", which no filter has`},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 0) }, ErrCorrupt, "m = 0 bits, want at least 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 960) }, ErrCorrupt, "checksum"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 1025) }, ErrCorrupt, "it ends within the checksum: unexpected EOF"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], 1<<62) }, ErrTooLarge, "m = 4611686018427387904 bits are"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[16:], math.MaxUint64) }, ErrTooLarge, "are 2305843009213693952 bytes"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(math.NaN())) }, ErrCorrupt, "p = NaN, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(1)) }, ErrCorrupt, "p = 1, want 0 < p < 1"},
		{"double-hashing", func(b []byte) { le.PutUint64(b[32:], math.Float64bits(-0.5)) }, ErrCorrupt, "p = -0.5, want 0 < p < 1"},
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

// hidden hides the length of what it reads from.
type hidden struct{ io.Reader }

// TestLyingHeaderAllocatesLittle: a header that promises a gigabyte, and a few
// words that follow.
func TestLyingHeaderAllocatesLittle(t *testing.T) {
	for _, come := range []int{0, 8, 1000, 100_000, 3_000_000} {
		made, err := NewSchemeWithParams(Params{M: 1 << 33, K: 7})
		require.NoError(t, err)
		data := append(headerOf(made), make([]byte, come)...)
		for name, r := range map[string]io.Reader{"bytes": bytes.NewReader(data), "stream": hidden{bytes.NewReader(data)}} {
			got := allocated(func() {
				_, err := Read(r)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			})
			t.Logf("%s of %d bytes: %d allocated", name, len(data), got)
			// A size class of the allocator is up to an eighth larger than what was asked for.
			require.Less(t, got, uint64(4096+45*len(data)/10), name)
		}
		var g BloomFilter
		require.Less(t, allocated(func() { require.Error(t, g.UnmarshalBinary(data)) }), uint64(4096+45*len(data)/10))
	}
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

// TestUnmarshalTakesAllOrNothing: bytes after the end are an error, and the receiver
// stays what it was.
func TestUnmarshalTakesAllOrNothing(t *testing.T) {
	f, g := MustNew(100, 0.01), MustNew(50, 0.1)
	g.AddString("kept")
	before := g.Clone()
	for _, data := range [][]byte{nil, append(marshal(t, f), 0), append(marshal(t, f), marshal(t, f)...)} {
		require.ErrorIs(t, g.UnmarshalBinary(data), ErrCorrupt, "%d bytes", len(data))
		same(t, before, g)
	}
	require.NoError(t, g.UnmarshalBinary(marshal(t, f)))
	same(t, f, g)
}
