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
	"github.com/seed3447c163/bloom/compare/internal/program"
)

// wholeOps are the operations on all bits of a filter.
var wholeOps = [...]string{"clone", "union", "union, nothing new", "clear", "write", "read"}

// A whole is a filter and what each operation on it is: a function that prepares it and
// returns what is timed, nil if the filter has no such operation.
type whole struct {
	name  string
	bytes uint64
	ops   [len(wholeOps)]func() func()
}

// wholeOf is that of a filter f and another one to unite with. The functions clear and read
// may be nil.
func wholeOf[F any](name string, bytes uint64, f, other F, clone func(F) F, union func(F, F), clear func(F), write func(F), read func()) whole {
	w := whole{name: name, bytes: bytes}
	w.ops[0] = func() func() { return func() { clone(f) } }
	w.ops[1] = func() func() { c := clone(f); return func() { union(c, other) } }
	w.ops[2] = func() func() { c := clone(f); return func() { union(c, f) } }
	w.ops[4] = func() func() { return func() { write(f) } }
	if clear != nil {
		w.ops[3] = func() func() { c := clone(f); return func() { clear(c) } }
	}
	if read != nil {
		w.ops[5] = func() func() { return read }
	}
	return w
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // what it comes from is known to be right
	}
	return x
}

// wholes returns the filters with n keys; each has another with n other keys to unite with.
func wholes(n uint64) []whole {
	list := []whole{wholeFloor(must(bloom.New(n, 0.01)).SizeBytes())}
	for _, s := range []bloom.Strategy{bloom.SplitBlock, bloom.Blocked, bloom.DoubleHashing} {
		f, other := must(bloom.New(n, 0.01, bloom.WithStrategy(s))), must(bloom.New(n, 0.01, bloom.WithStrategy(s)))
		for i := range n {
			f.AddDigest(bloom.Digest64(i))
			other.AddDigest(bloom.Digest64(n + i))
		}
		data := must(f.MarshalBinary())
		list = append(list, wholeOf(fmt.Sprintf("**ours: %s**", s), f.SizeBytes(), f, other, (*bloom.BloomFilter).Clone,
			func(f, other *bloom.BloomFilter) { _ = f.Union(other) }, (*bloom.BloomFilter).Clear,
			func(f *bloom.BloomFilter) { _, _ = f.WriteTo(io.Discard) },
			func() { must(bloom.Read(bytes.NewReader(data))) }))
	}
	f, other := bitsandblooms.NewWithEstimates(uint(n), 0.01), bitsandblooms.NewWithEstimates(uint(n), 0.01)
	g := must(holiman.NewOptimal(n, 0.01))
	next := must(g.NewCompatible())
	for i := range n {
		key := fmt.Appendf(nil, "%016x", mix(i))
		f.Add(key)
		other.Add(key[:15])
		g.AddDigest(mix(i))
		next.AddDigest(mix(n + i))
	}
	var data bytes.Buffer
	_, _ = f.WriteTo(&data)
	return append(list,
		wholeOf("bits-and-blooms", uint64(f.Cap()/8), f, other, (*bitsandblooms.BloomFilter).Copy,
			func(f, other *bitsandblooms.BloomFilter) { _ = f.Merge(other) },
			func(f *bitsandblooms.BloomFilter) { f.ClearAll() },
			func(f *bitsandblooms.BloomFilter) { _, _ = f.WriteTo(io.Discard) },
			func() { _, _ = new(bitsandblooms.BloomFilter).ReadFrom(bytes.NewReader(data.Bytes())) }),
		wholeOf("holiman/bloomfilter (its own files are compressed)", g.M()/8, g, next,
			func(f *holiman.Filter) *holiman.Filter { return must(f.Copy()) },
			func(f, other *holiman.Filter) { _ = f.UnionInPlace(other) }, nil,
			func(f *holiman.Filter) { _, _ = f.WriteTo(io.Discard) }, nil))
}

// wholeFloor is what memory allows: a copy into new memory, a locked OR of every word, and
// a copy.
func wholeFloor(size uint64) whole {
	from, to := make([]byte, size), make([]byte, size)
	words := make([]atomic.Uint64, size/8)
	clear(from) // or its pages are not there
	fresh := func() func() { return func() { runtime.KeepAlive(slices.Clone(from)) } }
	copied := func() func() { return func() { copy(to, from) } }
	locked := func() func() {
		return func() {
			for i := range words {
				words[i].Or(1)
			}
		}
	}
	return whole{"floor: a copy into new memory; a locked OR a word; a copy", size,
		[len(wholeOps)]func() func(){fresh, locked, copied, locked, copied, fresh}}
}

// wholeTable measures all of them in turns, and writes GB/s.
func wholeTable(b io.Writer, n uint64, rounds int, bar *program.Progress) {
	list := wholes(n)
	took := make([][len(wholeOps)][]float64, len(list))
	order := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		for op, name := range wholeOps {
			bar.Say("whole filters, round %d of %d: %s", round+1, rounds, name)
			for _, i := range order.Perm(len(list)) {
				if prepare := list[i].ops[op]; prepare != nil {
					runtime.GC()
					call := prepare()
					start := time.Now()
					call()
					took[i][op] = append(took[i][op], perOperation(start, int(list[i].bytes)))
				}
			}
		}
	}
	fmt.Fprintf(b, "\n## Whole filters\n\nGB/s for a filter of %s keys at p = 1 %%, the fastest of the rounds.\n\n| | %s |\n|---|%s\n",
		program.Grouped(n), strings.Join(wholeOps[:], " | "), strings.Repeat("--:|", len(wholeOps)))
	for i, w := range list {
		fmt.Fprintf(b, "| %s |", w.name)
		for op := range wholeOps {
			gbs := nan
			if len(took[i][op]) > 0 { // the fastest: nobody else had the processor
				gbs = 1 / slices.Min(took[i][op])
			}
			fmt.Fprintf(b, " %s |", number(gbs, "%.2f"))
		}
		fmt.Fprintln(b)
	}
}
