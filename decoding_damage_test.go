package bloom

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"

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

// TestEveryBitFlipAndTruncation of the golden files is refused, and costs no more
// memory than a small multiple of the bytes.
func TestEveryBitFlipAndTruncation(t *testing.T) {
	flips, cuts := vandal{t: t}, vandal{t: t}
	most := uint64(0)
	for name, p := range portables(t) {
		data := golden(t, name, p.f)
		flips.opts, cuts.opts = p.opts, p.opts
		for i := range data {
			most = max(most, testkit.Allocated(func() {
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
		text := must(portables(t)[name].f.MarshalText())
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

// TestOtherDamage: what disks, copies and editors do; with -long to all golden files.
func TestOtherDamage(t *testing.T) {
	sequential(t)
	t.Parallel()
	v := vandal{t: t}
	filters := portables(t)
	for name, p := range filters {
		if !*testkit.Long && name != "triple-key" && name != "one-bit" {
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
		step := testkit.Times(31, 31, 1) // of half a million pairs
		for j := i % step; j < i; j += step {
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

// hidden hides the length of what it reads from.
type hidden struct{ io.Reader }

// TestLyingHeaderAllocatesLittle: a header that promises a gigabyte, and a few
// words that follow.
func TestLyingHeaderAllocatesLittle(t *testing.T) {
	// The first call of a process allocates more: it looks up the machine's memory.
	_, err := Read(bytes.NewReader(headerOf(must(NewSchemeWithParams(Params{M: 1 << 33, K: 7})))))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	for _, come := range []int{0, 8, 1000, 100_000, 3_000_000} {
		made := must(NewSchemeWithParams(Params{M: 1 << 33, K: 7}))
		data := append(headerOf(made), make([]byte, come)...)
		for name, r := range map[string]io.Reader{"bytes": bytes.NewReader(data), "stream": hidden{bytes.NewReader(data)}, "claim": claims{bytes.NewReader(data)}} {
			got := testkit.Allocated(func() {
				_, err := Read(r)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			})
			t.Logf("%s of %d bytes: %d allocated", name, len(data), got)
			// A size class of the allocator is up to an eighth larger than what was asked for.
			require.Less(t, got, uint64(4096+45*len(data)/10), name)
		}
		var g BloomFilter
		require.Less(t, testkit.Allocated(func() { require.Error(t, g.UnmarshalBinary(data)) }), uint64(4096+45*len(data)/10))
	}
}

// claims has a method of the name that readers of this module have: a rate limiter, a quota.
type claims struct{ io.Reader }

func (claims) Remaining() uint64 { return math.MaxUint64 }
