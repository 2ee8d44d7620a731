package compare

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom/compare/internal/filters"
)

const (
	p = 0.01

	// chunk is how many keys are made at a time, while the timer is stopped. They stay in the
	// second-level cache, and no chunk comes twice: a branch predictor would learn its answers.
	chunk = 8192

	prefix = "https://www.example.com/articles/2026/compare-filters-by-keys-of-many-lengths/page-" // of long keys
)

var operations = []string{"add", "again", "hit", "miss", "mixed"}

// peers returns all filters that are measured. Names have no spaces, as benchstat wants.
func peers() []*filters.Peer {
	return slices.Concat(filters.Hashes(), filters.Ours(), filters.Others())
}

func label(p *filters.Peer) string {
	return strings.NewReplacer(", ", ",", ": ", ":", " ", "-", "/", "-").Replace(p.Name)
}

// BenchmarkFilter measures every filter with 10,000 keys of 40 bytes, used by one goroutine and
// shared by two. An operation is one key.
func BenchmarkFilter(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		for _, peer := range peers() {
			f := &subject{peer: peer, n: 10_000, lengths: []int{40}}
			for _, op := range operations {
				writes := op == "add" || op == "again"
				if goroutines > 1 && (peer.Safe == filters.None || peer.Safe == filters.Readers && writes) || peer.Static && op == "again" {
					continue
				}
				b.Run(fmt.Sprintf("filter=%s/op=%s/goroutines=%d", label(peer), op, goroutines), func(b *testing.B) {
					f.measure(b, op, goroutines)
				})
			}
		}
	}
}

// BenchmarkSome measures lookups in the fastest filters and the default one, with keys of other
// lengths and in larger filters.
func BenchmarkSome(b *testing.B) {
	all := peers()
	for _, name := range []string{"parquet-go", "ours: SplitBlock, RapidHash", "ours: SplitBlock, RapidHash, batch", "ours: Blocked, RapidHash", "ours: DoubleHashing, Murmur3", "ours: DoubleHashing, Murmur3, batch", "bits-and-blooms"} {
		peer := all[slices.IndexFunc(all, func(p *filters.Peer) bool { return p.Name == name })]
		for _, length := range []string{"8", "16", "32", "40", "64", "20-80"} {
			f := &subject{peer: peer, n: 10_000}
			from, to, _ := strings.Cut(length, "-")
			for l := atoi(from); l <= atoi(cmp.Or(to, from)); l++ {
				f.lengths = append(f.lengths, l)
			}
			b.Run(fmt.Sprintf("filter=%s/bytes=%s", label(peer), length), func(b *testing.B) { f.measure(b, "mixed", 1) })
		}
		for _, n := range []uint64{1_000_000, 20_000_000} {
			f := &subject{peer: peer, n: n, lengths: []int{40}}
			b.Run(fmt.Sprintf("filter=%s/n=%d", label(peer), n), func(b *testing.B) { f.measure(b, "mixed", 1) })
		}
	}
}

func atoi(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

// A subject is a filter that is measured with keys of some lengths.
type subject struct {
	peer    *filters.Peer
	n       uint64
	lengths []int
	filter  filters.Filter // with the keys 0 to n-1
	salt    uint64         // the last number that was used for keys
}

// absent is the number of the first key that is in no filter.
const absent = 1 << 63

func (f *subject) measure(b *testing.B, op string, goroutines int) {
	slabs := make([]*slab, goroutines)
	for i := range slabs {
		slabs[i] = newSlab(f.lengths, f.peer.Hashed)
	}
	run := func(each func(filters.Keys) int) (sum int) {
		sums := make([]int, goroutines)
		var wg sync.WaitGroup
		for i := 1; i < goroutines; i++ {
			wg.Go(func() { sums[i] = each(slabs[i].Keys) })
		}
		sums[0] = each(slabs[0].Keys)
		wg.Wait()
		for _, s := range sums {
			sum += s
		}
		return sum
	}
	filter, left := f.filter, uint64(0)
	if op != "add" && filter == nil {
		filter = f.make(b)
		for from := uint64(0); from < f.n; from += chunk {
			slabs[0].fill(int(min(chunk, f.n-from)), func(i uint64) uint64 { return from + i })
			filter.Add(slabs[0].Keys)
		}
		if static, ok := filter.(filters.Builder); ok {
			static.Build()
		}
		f.filter = filter
	}
	positives := 0
	b.ResetTimer()
	b.StopTimer()
	for done := 0; done < b.N; {
		count := min(chunk, (b.N-done-1)/goroutines+1)
		if op == "add" {
			if left == 0 {
				filter, left = f.make(b), f.n
			}
			count = min(count, int(left-1)/goroutines+1)
			left -= min(left, uint64(count*goroutines))
		}
		for _, s := range slabs {
			f.salt += chunk
			salt := f.salt
			s.fill(count, func(i uint64) uint64 {
				random := mix(salt + i)
				if op == "add" || op == "miss" || op == "mixed" && random&1 == 0 {
					return absent + salt + i
				}
				return random >> 1 % f.n
			})
		}
		b.StartTimer()
		if op == "add" || op == "again" {
			run(filter.Add)
		} else {
			positives += run(filter.Contains)
		}
		b.StopTimer()
		done += count * goroutines
	}
	if op == "miss" && goroutines == 1 && filter.Bits() > 0 {
		if positives > 0 { // answers are not discarded
			b.ReportMetric(100*float64(positives)/float64(b.N), "rate%")
		}
		b.ReportMetric(float64(filter.Bits())/float64(f.n), "bits/key")
	}
}

func (f *subject) make(b *testing.B) filters.Filter {
	made, err := f.peer.Make(f.n, p)
	if err != nil {
		b.Fatal(err)
	}
	return made
}

// A slab is the memory for one chunk of keys.
type slab struct {
	filters.Keys
	buf     []byte
	lengths []int
	hashed  bool
}

func newSlab(lengths []int, hashed bool) *slab {
	return &slab{lengths: lengths, hashed: hashed, buf: make([]byte, chunk*slices.Max(lengths)), Keys: filters.Keys{
		Bytes: make([][]byte, chunk), Digests: make([][2]uint64, chunk), Hashes: make([]uint64, chunk), Answers: make([]bool, chunk)}}
}

// fill makes count keys of the numbers that number returns. Different numbers make different keys.
func (s *slab) fill(count int, number func(i uint64) uint64) {
	s.Bytes, s.Digests, s.Hashes = s.Bytes[:count], s.Digests[:count], s.Hashes[:count]
	buf := s.buf
	for i := range s.Bytes {
		x := mix(number(uint64(i)))
		length := s.lengths[x>>32%uint64(len(s.lengths))]
		key := buf[:length:length]
		buf = buf[length:]
		copy(key, prefix[:length-8])
		binary.LittleEndian.PutUint64(key[length-8:], x)
		s.Bytes[i] = key
		if s.hashed {
			h := xxh3.Hash128(key)
			s.Digests[i], s.Hashes[i] = [2]uint64{h.Hi, h.Lo}, h.Hi
		}
	}
}

// mix is a bijection of 64-bit words whose output looks random: the finalizer of SplitMix64
// (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
