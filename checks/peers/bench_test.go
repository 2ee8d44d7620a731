package compare

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	p = 0.01

	// chunk is the number of keys that are made at a time, while the timer is stopped. They stay in
	// the second-level cache, and no chunk comes twice: a branch predictor would learn its answers.
	chunk = 8192
)

var operations = []string{"add", "again", "hit", "miss", "mixed"}

// peers returns all filters that are measured. Names have no spaces, as benchstat wants.
func peers() []*Peer {
	return slices.Concat(Hashes(), Ours(), Others())
}

func label(p *Peer) string {
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
				if goroutines > 1 && (peer.Safe == None || peer.Safe == Readers && writes) || peer.Static && op == "again" {
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
	for _, name := range []string{"parquet-go", "ours: SplitBlock, RapidHash", "ours: SplitBlock, RapidHash, batch", "ours: Blocked, RapidHash", "ours: DoubleHashing, Murmur3", "ours: DoubleHashing, Murmur3, batch", "blobloom.Sync", "bits-and-blooms"} {
		peer := all[slices.IndexFunc(all, func(p *Peer) bool { return p.Name == name })]
		run := func(what string, n uint64, lengths ...int) {
			f := &subject{peer: peer, n: n, lengths: lengths}
			b.Run(fmt.Sprintf("filter=%s/%s", label(peer), what), func(b *testing.B) { f.measure(b, "mixed", 1) })
		}
		var mixed []int
		for length := 20; length <= 80; length++ {
			mixed = append(mixed, length)
		}
		for _, length := range []int{8, 16, 32, 40, 64} {
			run(fmt.Sprint("bytes=", length), 10_000, length)
		}
		run("bytes=20-80", 10_000, mixed...)
		run("n=1000000", 1_000_000, 40)
		run("n=20000000", 20_000_000, 40)
	}
}

// BenchmarkVariants measures the filters that grow, forget and remove.
func BenchmarkVariants(b *testing.B) {
	for _, peer := range Variants() {
		f := &subject{peer: peer, n: 10_000, lengths: []int{40}}
		for _, op := range []string{"add", "hit", "miss"} {
			b.Run(fmt.Sprintf("filter=%s/op=%s", label(peer), op), func(b *testing.B) { f.measure(b, op, 1) })
		}
	}
}

// A subject is a filter that is measured with keys of some lengths.
type subject struct {
	peer    *Peer
	n       uint64
	lengths []int
	filled  *Filter // with the keys 0 to n-1
	salt    uint64  // the last number that was used for keys
}

// absent is the number of the first key that is in no filter.
const absent = 1 << 63

func (f *subject) measure(b *testing.B, op string, goroutines int) {
	keys := make([]*Keys, goroutines)
	for i := range keys {
		keys[i] = NewKeys(chunk, f.peer.Hashed, f.lengths...)
	}
	filter, left, positives := f.filled, uint64(0), atomic.Int64{}
	var bursts []float64 // times per key
	var burst time.Duration
	if op != "add" && filter == nil {
		filter = f.make(b)
		for from := uint64(0); from < f.n; from += chunk {
			keys[0].Fill(int(min(chunk, f.n-from)), func(i uint64) uint64 { return from + i })
			filter.add(*keys[0])
		}
		if filter.build != nil {
			filter.build()
		}
		f.filled = filter
	}
	use := func(k *Keys) {
		if op == "add" || op == "again" {
			filter.add(*k)
		} else {
			positives.Add(int64(filter.contains(*k)))
		}
	}
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
		for _, k := range keys {
			f.salt += chunk
			salt := f.salt
			k.Fill(count, func(i uint64) uint64 {
				random := Mix(salt + i)
				if op == "add" || op == "miss" || op == "mixed" && random&1 == 0 {
					return absent + salt + i
				}
				return random >> 1 % f.n
			})
		}
		b.StartTimer()
		began := time.Now()
		var others sync.WaitGroup
		for _, k := range keys[1:] {
			others.Go(func() { use(k) })
		}
		use(keys[0])
		others.Wait()
		burst += time.Since(began)
		b.StopTimer()
		done += count * goroutines
		if op != "add" && count == chunk {
			bursts = append(bursts, float64(burst)/float64(count*goroutines))
		} else if op == "add" && left == 0 {
			bursts = append(bursts, float64(burst)/float64(f.n))
		}
		if op != "add" || left == 0 {
			burst = 0
		}
	}
	if len(bursts) > 0 {
		b.ReportMetric(slices.Min(bursts), "ns/op")
	}
	if op == "miss" && goroutines == 1 && filter.bits > 0 {
		b.ReportMetric(100*float64(positives.Load())/float64(b.N), "rate%")
		b.ReportMetric(float64(filter.bits)/float64(f.n), "bits/key")
	}
}

func (f *subject) make(b *testing.B) *Filter {
	made, err := f.peer.Make(f.n, p)
	if err != nil {
		b.Fatal(err)
	}
	return made
}
