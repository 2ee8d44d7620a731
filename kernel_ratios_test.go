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

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/vector"
)

var ratiosFlag = flag.Bool("kernels", false, "compare the times of the kernels in assembly with those of the Go code")

// Each cell of the table of ratios is measured in this many rounds, with filters of ratioKeys keys.
const (
	ratioRounds = 25  // first
	moreRounds  = 200 // when it is measured again
	ratioKeys   = 10_000
	ratioBurst  = 4096  // keys of a lookup
	ratioLimit  = 1.05  // a cell above it is measured again
	ratioTries  = 1 + 3 // and fails if it is above it each time
)

// TestKernelRatios is the rule by which kernels in assembly are admitted: none is slower than the Go code of the same
// build. It prints a table of the ratios of both times, and fails if a cell is above 1.05 four times:
//
//	go test -run TestKernelRatios -kernels
//
// One process measures both, in turn, because two builds would differ in more: the tag purego replaces MapHash, too. The
// least time of several short bursts counts.
func TestKernelRatios(t *testing.T) {
	switch {
	case !*ratiosFlag:
		t.Skip("NOT TESTED without -kernels: that the kernels in assembly are not slower than the Go code")
	case !vector.Has:
		t.Skip("NOT TESTED: kernels in assembly, which this processor or build does not have")
	}
	fmt.Printf("\n%s, %s\n\n", processor(), runtime.Version())
	fmt.Printf("%-46s", "strategy, k, hash, operation")
	for _, l := range ratioLengths {
		fmt.Printf("%8s", l)
	}
	fmt.Println()
	for _, r := range ratioRows() {
		t.Run(r.String(), func(t *testing.T) {
			line := fmt.Sprintf("%-46s", r)
			for _, length := range ratioLengths {
				ratio := r.measure(length, ratioRounds)
				for try := 1; ratio > ratioLimit && try < ratioTries; try++ {
					ratio = min(ratio, r.measure(length, moreRounds))
				}
				line += fmt.Sprintf("%8.2f", ratio)
				if ratio > ratioLimit {
					t.Errorf("keys of %s bytes take %.2f of the Go code's time, want at most %v", length, ratio, ratioLimit)
				}
			}
			fmt.Println(line)
		})
	}
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

// A ratioRow is a row of the table.
type ratioRow struct {
	scheme Scheme
	ratioOperation
}

func (r ratioRow) String() string {
	return fmt.Sprintf("%v k=%d %v %s", r.scheme.Strategy(), r.scheme.Params().K, r.scheme.Hash(), r.name)
}

// A ratioOperation adds keys to an empty filter, if it fills, or looks up keys in a full one, half of which are present
// unless all are.
type ratioOperation struct {
	name       string
	fills, all bool
	do         func(f *BloomFilter, keys [][]byte)
}

var ratioOperations = []ratioOperation{
	{"Contains", false, false, func(f *BloomFilter, keys [][]byte) { each(keys, nil, f.Contains) }},
	{"ContainsMany", false, false, func(f *BloomFilter, keys [][]byte) { f.ContainsMany(keys, nil) }},
	{"fill by Add", true, false, func(f *BloomFilter, keys [][]byte) { each(keys, nil, f.Add) }},
	{"fill by AddMany", true, false, func(f *BloomFilter, keys [][]byte) { f.AddMany(keys, nil) }},
	{"Add, present", false, true, func(f *BloomFilter, keys [][]byte) { each(keys, nil, f.Add) }},
}

// ratioRows returns the rows of each layout of the kernels, with the first of these p that has it, and each hash.
func ratioRows() (rows []ratioRow) {
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
					scheme := must(NewScheme(ratioKeys, p, WithStrategy(strategy), opt))
					for _, o := range ratioOperations {
						rows = append(rows, ratioRow{scheme, o})
					}
				}
			}
		}
	}
	return rows
}

// measure returns the least time of the kernels in assembly divided by the least time of the Go code.
func (r ratioRow) measure(length ratioLength, rounds uint64) float64 {
	const kernels, plain = 0, 1
	filters := [2]*BloomFilter{kernels: must(r.scheme.Filter()), plain: inGo(must(r.scheme.Filter()))}
	numbers := make([]uint64, ratioKeys)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	if !r.fills {
		for _, f := range filters {
			f.AddMany(length.keys(numbers), nil)
		}
		numbers = numbers[:ratioBurst]
	}
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for round := range rounds {
		for i := range numbers {
			switch random := mix(round<<32 + uint64(i)); {
			case r.fills:
				numbers[i] = random
			case r.all || random>>63 == 0:
				numbers[i] = probe.Reduce(mix(random), ratioKeys)
			default:
				numbers[i] = ratioKeys + random>>2
			}
		}
		keys := length.keys(numbers)
		for turn := range uint64(2) {
			which := (turn + round) % 2
			f := filters[which]
			if r.fills {
				f.Clear()
			}
			start := time.Now()
			r.do(f, keys)
			least[which] = min(least[which], time.Since(start))
		}
	}
	return float64(least[kernels]) / float64(least[plain])
}
