package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	bitsandblooms "github.com/bits-and-blooms/bloom/v3"
	holiman "github.com/holiman/bloomfilter/v2"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/compare/internal/figures"
)

// wholeOps are the operations on all bits of a filter.
var wholeOps = []string{"clone", "union", "union, nothing new", "clear", "write", "read"}

// A whole is a filter of n keys, and what each operation on it took. An operation that a
// filter does not have is missing.
type whole struct {
	name  string
	bytes uint64
	ops   map[string]func() time.Duration
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // the arguments are constants
	}
	return x
}

// timed is what one call takes.
func timed(call func()) time.Duration {
	start := time.Now()
	call()
	return time.Since(start)
}

// wholes returns the filters with n keys; each has another with n other keys to unite with.
func wholes(n uint64) []whole {
	list := []whole{wholeFloor(must(bloom.New(n, 0.01)).SizeBytes())}
	for _, s := range []bloom.Strategy{bloom.SplitBlock, bloom.Blocked, bloom.DoubleHashing} {
		f, other := must(bloom.New(n, 0.01, bloom.WithStrategy(s))), must(bloom.New(n, 0.01, bloom.WithStrategy(s)))
		for i := range n {
			f.AddHash(bloom.Digest64(i))
			other.AddHash(bloom.Digest64(n + i))
		}
		data := must(f.MarshalBinary())
		list = append(list, whole{fmt.Sprintf("**ours: %s**", s), f.SizeBytes(), map[string]func() time.Duration{
			"clone": func() time.Duration { return timed(func() { f.Clone() }) },
			"union": func() time.Duration { c := f.Clone(); return timed(func() { _ = c.Union(other) }) },
			"union, nothing new": func() time.Duration {
				c := f.Clone()
				return timed(func() { _ = c.Union(f) })
			},
			"clear": func() time.Duration { c := f.Clone(); return timed(c.Clear) },
			"write": func() time.Duration { return timed(func() { _, _ = f.WriteTo(io.Discard) }) },
			"read":  func() time.Duration { return timed(func() { must(bloom.Read(bytes.NewReader(data))) }) },
		}})
	}
	f, other := bitsandblooms.NewWithEstimates(uint(n), 0.01), bitsandblooms.NewWithEstimates(uint(n), 0.01)
	g := must(holiman.NewOptimal(n, 0.01))
	next := must(g.NewCompatible())
	for i := range n {
		key := fmt.Appendf(nil, "%016x", mix(i))
		f.Add(key)
		other.Add(key[:15])
		g.AddHash(mix(i))
		next.AddHash(mix(n + i))
	}
	var data bytes.Buffer
	_, _ = f.WriteTo(&data)
	return append(list, whole{"bits-and-blooms", uint64(f.Cap() / 8), map[string]func() time.Duration{
		"clone":              func() time.Duration { return timed(func() { f.Copy() }) },
		"union":              func() time.Duration { c := f.Copy(); return timed(func() { _ = c.Merge(other) }) },
		"union, nothing new": func() time.Duration { c := f.Copy(); return timed(func() { _ = c.Merge(f) }) },
		"clear":              func() time.Duration { c := f.Copy(); return timed(func() { c.ClearAll() }) },
		"write":              func() time.Duration { return timed(func() { _, _ = f.WriteTo(io.Discard) }) },
		"read": func() time.Duration {
			return timed(func() { _, _ = new(bitsandblooms.BloomFilter).ReadFrom(bytes.NewReader(data.Bytes())) })
		},
	}}, whole{"holiman/bloomfilter (its own files are compressed)", g.M() / 8, map[string]func() time.Duration{
		"clone": func() time.Duration { return timed(func() { must(g.Copy()) }) },
		"union": func() time.Duration { c := must(g.Copy()); return timed(func() { _ = c.UnionInPlace(next) }) },
		"write": func() time.Duration { return timed(func() { _, _ = g.WriteTo(io.Discard) }) },
	}})
}

// wholeFloor is what memory allows: a copy, and a locked OR of every word.
func wholeFloor(size uint64) whole {
	from, to := make([]byte, size), make([]byte, size)
	words := make([]atomic.Uint64, size/8)
	clear(from) // or its pages are not there
	copied := func() time.Duration { return timed(func() { runtime.KeepAlive(slices.Clone(from)) }) }
	locked := func() time.Duration {
		return timed(func() {
			for i := range words {
				words[i].Or(1)
			}
		})
	}
	return whole{"floor: a copy into new memory; a locked OR a word; a copy", size, map[string]func() time.Duration{
		"clone": copied, "read": copied, "union": locked, "clear": locked,
		"union, nothing new": func() time.Duration { return timed(func() { copy(to, from) }) },
		"write":              func() time.Duration { return timed(func() { copy(to, from) }) },
	}}
}

// wholeTable measures all of them in turns, and writes GB/s.
func wholeTable(b io.Writer, n uint64, rounds int, bar *figures.Progress) {
	list := wholes(n)
	took := map[string][]float64{}
	order := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		for _, op := range wholeOps {
			bar.Say("whole filters, round %d of %d: %s", round+1, rounds, op)
			for _, i := range order.Perm(len(list)) {
				if f := list[i].ops[op]; f != nil {
					runtime.GC()
					took[list[i].name+op] = append(took[list[i].name+op], float64(f().Nanoseconds()))
				}
			}
		}
	}
	fmt.Fprintf(b, "\n## Whole filters\n\nGB/s for a filter of %s keys at p = 1 %%, the fastest of the rounds.\n\n| | %s |\n|---|%s\n",
		figures.Grouped(n), strings.Join(wholeOps, " | "), strings.Repeat("--:|", len(wholeOps)))
	for _, w := range list {
		fmt.Fprintf(b, "| %s |", w.name)
		for _, op := range wholeOps {
			fmt.Fprintf(b, " %s |", number(float64(w.bytes)/least(took[w.name+op]), "%.2f"))
		}
		b.Write([]byte("\n"))
	}
}

// least is what an operation of milliseconds takes when nobody else gets the processor
// meanwhile; NaN if there is none.
func least(took []float64) float64 {
	if len(took) == 0 {
		return nan
	}
	return slices.Min(took)
}
