package bloom

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/vector"
)

var ratiosFlag = flag.Bool("kernels", false, "compare times: of kernels in assembly and Go code, of batches and loops")

// Each cell of a table of ratios is measured in this many rounds.
const (
	ratioRounds = 25      // first
	moreRounds  = 200     // when it is measured again
	ratioKeys   = 10_000  // keys of a filter that is filled in each round
	ratioBurst  = 4096    // keys of a round that does not fill a filter
	ratioLimit  = 1.05    // a cell above it is measured again
	ratioTries  = 1 + 3   // and fails if it is above it each time
	fusedLimit  = 1 / 1.1 // of the least cell of a kernel that hashes keys
)

// TestKernelRatios is the rule by which kernels in assembly are admitted:
//
//	go test -run TestKernelRatios -kernels
//
// It prints ratios of times. A kernel is compared with the Go code of the same build: no cell may be above 1.05 four
// times. In rows with "fused", a kernel that hashes keys is compared with the same hash followed by the kernel for
// digests: one cell must be below 1/1.1, of the rows for single keys, and of those for batches.
//
// One process measures both, in turn, because two builds would differ in more: the tag purego replaces MapHash, too.
// The least time of several short bursts counts.
func TestKernelRatios(t *testing.T) {
	switch {
	case !*ratiosFlag:
		t.Skip("NOT TESTED without -kernels: that the kernels in assembly are not slower than the Go code")
	case !vector.Has:
		t.Skip("NOT TESTED: kernels in assembly, which this processor or build does not have")
	}
	printRatios("strategy, k, hash, operation", ratioLengths)
	for _, s := range kernelSchemes() {
		f, plain, separate := must(s.Filter()), inGo(must(s.Filter())), must(s.Filter())
		separate.byKey, separate.lengths = nil, 0
		for i := range 2 {
			least := math.Inf(1)
			for _, o := range ratioOperations {
				way := o.ways[i]
				if way.do == nil || o.hashed && s.Hash() != Murmur3 { // digests of all hashes are the same
					continue
				}
				lengths := ratioLengths
				if o.hashed {
					lengths = lengths[:1]
				}
				name := fmt.Sprintf("%v k=%d %v %s", s.Strategy(), s.Params().K, s.Hash(), way.name)
				ratioRow(t, name, ratioLimit, lengths, func(l ratioLength, rounds uint64) float64 {
					return o.compare([2]ratioWay{way, way}, [2]*BloomFilter{f, plain}, l, rounds)
				})
				if !o.hashed && f.byKey != nil && (i == 0 || f.byKey.HasMany()) {
					least = min(least, ratioRow(t, name+", fused", math.Inf(1), lengths, func(l ratioLength, rounds uint64) float64 {
						return o.compare([2]ratioWay{way, way}, [2]*BloomFilter{f, separate}, l, rounds)
					}))
				}
			}
			if !math.IsInf(least, 1) && least > fusedLimit {
				t.Errorf("%v k=%d %v: the fused kernel takes at least %.2f of the time of two calls, want %.2f in one cell",
					s.Strategy(), s.Params().K, s.Hash(), least, fusedLimit)
			}
		}
	}
}

// TestBatchRatios: a batch takes at most 1.05 of the time of a loop, for every strategy and hash, in filters in the
// cache and beyond it, by kernels in assembly if there are any, and by the Go code:
//
//	go test -run TestBatchRatios -kernels
func TestBatchRatios(t *testing.T) {
	if !*ratiosFlag {
		t.Skip("NOT TESTED without -kernels: that batches are not slower than loops")
	}
	type size uint64
	sizes := []size{ratioKeys, 1_000_000, 20_000_000}
	printRatios("strategy, hash, code, batch", sizes)
	for _, strategy := range builtins {
		for _, def := range append(hashes[:len(hashes):len(hashes)], customHash) {
			opt := hashOptions()[def.name]
			switch {
			case strategy.NeedsKey() != (def == &noHash):
				continue
			case def == &noHash:
				opt = WithSeed(0)
			case def == customHash:
				opt = WithHash(customHash)
			}
			filters := map[size]*BloomFilter{}
			for _, n := range sizes {
				filters[n] = withKeys(must(NewScheme(uint64(n), 0.01, WithStrategy(strategy), opt)))
			}
			for _, code := range []string{"kernels", "Go"} {
				if code == "kernels" && filters[ratioKeys].byDigest == nil {
					continue
				}
				for _, o := range ratioOperations {
					loop, batch := o.ways[0], o.ways[1]
					if batch.do == nil || o.hashed && def != &murmur3Hash {
						continue
					}
					ratioRow(t, fmt.Sprintf("%v %v %s %s", strategy, def, code, batch.name), ratioLimit, sizes, func(n size, rounds uint64) float64 {
						f := must(filters[n].Scheme().FilterOver(filters[n].Words()))
						if code == "Go" {
							f = inGo(f)
						}
						return o.compare([2]ratioWay{batch, loop}, [2]*BloomFilter{f, f}, ratioLength{40, 0}, rounds)
					})
				}
			}
		}
	}
}

// withKeys returns a filter with the first n keys of 40 bytes.
func withKeys(s *Scheme) *BloomFilter {
	b := must(s.Builder())
	n := s.Params().N
	for first := uint64(0); first < n; first += ratioKeys {
		b.AddMany(ratioLength{40, 0}.keys(numbersFrom(first, min(ratioKeys, n-first))))
	}
	return b.Filter()
}

// numbersFrom returns count numbers.
func numbersFrom(first, count uint64) []uint64 {
	numbers := make([]uint64, count)
	for i := range numbers {
		numbers[i] = first + uint64(i)
	}
	return numbers
}

func printRatios[C any](what string, columns []C) {
	fmt.Printf("\n%s, %s\n\n%-58s", processor(), runtime.Version(), what)
	for _, c := range columns {
		fmt.Printf("%10v", c)
	}
	fmt.Println()
}

// ratioRow measures and prints a row, which fails if a cell is above the limit each time. It returns the least cell.
func ratioRow[C any](t *testing.T, name string, limit float64, columns []C, measure func(column C, rounds uint64) float64) (least float64) {
	least = math.Inf(1)
	t.Run(name, func(t *testing.T) {
		line := fmt.Sprintf("%-58s", name)
		for _, c := range columns {
			ratio := measure(c, ratioRounds)
			for try := 1; ratio > limit && try < ratioTries; try++ {
				ratio = min(ratio, measure(c, moreRounds))
			}
			line += fmt.Sprintf("%10.2f", ratio)
			if least = min(least, ratio); ratio > limit {
				t.Errorf("%v: %.2f, want at most %v", c, ratio, limit)
			}
		}
		fmt.Println(line)
	})
	return least
}

// processor returns the name of the processor, with what Linux says about it.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	var parts []string
	for _, field := range []string{"model name", "cpu family", "model"} {
		if match := regexp.MustCompile(`(?m)^` + field + `\s*: (.*)$`).FindSubmatch(info); match != nil {
			parts = append(parts, strings.TrimPrefix(field+" ", "model name ")+string(match[1]))
		}
	}
	return fmt.Sprintf("%s, AVX-512 %v", strings.Join(parts, ", "), vector.Has512)
}

// A ratioLength is a length of keys: least, or that and up to spread more.
type ratioLength struct{ least, spread int }

var ratioLengths = []ratioLength{{8, 0}, {20, 0}, {40, 0}, {64, 0}, {100, 0}, {20, 60}}

func (l ratioLength) String() string {
	if l.spread > 0 {
		return fmt.Sprintf("%d-%d", l.least, l.least+l.spread)
	}
	return fmt.Sprint(l.least)
}

// keys returns keys with the given numbers. They follow each other in memory.
func (l ratioLength) keys(numbers []uint64) [][]byte {
	keys := make([][]byte, len(numbers))
	memory := make([]byte, len(numbers)*(l.least+l.spread)+8)
	for i, number := range numbers {
		n := l.least + int(mix(number)%uint64(l.spread+1))
		for at := 0; at < n; at += 8 {
			binary.LittleEndian.PutUint64(memory[at:], mix(number+uint64(at)<<32))
		}
		keys[i], memory = memory[:n:n], memory[n:]
	}
	return keys
}

// A ratioOperation adds new keys, or present ones, or looks up keys, half of which are present: in a loop and, if there
// is such a method, in a batch.
type ratioOperation struct {
	adds, present, hashed bool
	ways                  [2]ratioWay
}

type ratioWay struct {
	name string
	do   func(f *BloomFilter, in *ratioInput) (count int)
}

// A ratioInput is keys, and their digests if the operation takes digests.
type ratioInput struct {
	keys    [][]byte
	digests []digest
}

func addEach(f *BloomFilter, in *ratioInput) (count int) {
	for _, key := range in.keys {
		count += batch.Answer(f.Add(key), nil, 0)
	}
	return count
}

func addEachDigest(f *BloomFilter, in *ratioInput) (count int) {
	for _, d := range in.digests {
		count += batch.Answer(f.AddDigest(d[0], d[1]), nil, 0)
	}
	return count
}

var ratioOperations = []ratioOperation{
	{ways: [2]ratioWay{
		{"Contains", func(f *BloomFilter, in *ratioInput) (count int) {
			for _, key := range in.keys {
				count += batch.Answer(f.Contains(key), nil, 0)
			}
			return count
		}},
		{"ContainsMany", func(f *BloomFilter, in *ratioInput) int { return f.ContainsMany(in.keys, nil) }},
	}},
	{adds: true, ways: [2]ratioWay{
		{"Add", addEach},
		{"AddMany", func(f *BloomFilter, in *ratioInput) int { return f.AddMany(in.keys, nil) }},
	}},
	{present: true, ways: [2]ratioWay{
		{"Add, present", addEach},
	}},
	{hashed: true, ways: [2]ratioWay{
		{"ContainsDigest", func(f *BloomFilter, in *ratioInput) (count int) {
			for _, d := range in.digests {
				count += batch.Answer(f.ContainsDigest(d[0], d[1]), nil, 0)
			}
			return count
		}},
		{"ContainsDigests", func(f *BloomFilter, in *ratioInput) int { return f.ContainsDigests(in.digests, nil) }},
	}},
	{hashed: true, adds: true, ways: [2]ratioWay{
		{"AddDigest", addEachDigest},
		{"AddDigests", func(f *BloomFilter, in *ratioInput) int { return f.AddDigests(in.digests, nil) }},
	}},
	{hashed: true, present: true, ways: [2]ratioWay{
		{"AddDigest, present", addEachDigest},
	}},
}

// kernelSchemes returns the schemes of each layout of the kernels, with the first of these p that has it, and each
// hash.
func kernelSchemes() (all []*Scheme) {
	layouts := map[vector.Layout]bool{vector.NoLayout: true}
	for _, strategy := range builtins {
		for _, p := range []float64{0.01, 0.1, 1e-3, 1e-6} {
			params := must(sizeFor(ratioKeys, p, strategy))
			layout := must(strategy.kernel(params.M, params.K, 0)).layout
			if layouts[layout] {
				continue
			}
			layouts[layout] = true
			for _, def := range hashes {
				if opt := hashOptions()[def.name]; opt != nil {
					all = append(all, must(NewScheme(ratioKeys, p, WithStrategy(strategy), opt)))
				}
			}
		}
	}
	return all
}

// ratioSink gets all counts, so that the compiler leaves nothing out. ratioSeed is the number of keys that were made.
var ratioSink, ratioSeed = 0, uint64(0)

// compare returns the least time of the first way, in the first filter, divided by that of the second. Filters of
// ratioKeys keys are filled here. In larger ones, which have their n keys, each burst has keys of its own: those of the
// other way would be in the cache.
func (o ratioOperation) compare(ways [2]ratioWay, filters [2]*BloomFilter, length ratioLength, rounds uint64) float64 {
	n := filters[0].Params().N
	numbers := make([]uint64, ratioBurst)
	switch {
	case n == ratioKeys && o.adds:
		numbers = make([]uint64, n)
	case n == ratioKeys:
		for _, f := range filters {
			f.AddMany(length.keys(numbersFrom(0, n)), nil)
		}
	}
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	var in ratioInput
	for round := range rounds {
		for turn := range uint64(2) {
			if turn == 0 || n > ratioKeys {
				for i := range numbers {
					ratioSeed++
					switch random := mix(ratioSeed); {
					case o.adds:
						numbers[i] = random
					case o.present || random>>63 == 0:
						numbers[i] = probe.Reduce(mix(random), n)
					default:
						numbers[i] = n + random>>2
					}
				}
				in.keys, in.digests = length.keys(numbers), nil
				if o.hashed {
					for _, key := range in.keys {
						h1, h2 := filters[0].scheme.Digest(key)
						in.digests = append(in.digests, digest{h1, h2})
					}
				}
			}
			which := (turn + round) % 2
			f := filters[which]
			if o.adds && n == ratioKeys {
				f.Clear()
			}
			start := time.Now()
			ratioSink += ways[which].do(f, &in)
			least[which] = min(least[which], time.Since(start))
		}
	}
	return float64(least[0]) / float64(least[1])
}
