package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/compare/internal/program"
)

// Many small filters: as one for each table of a store, each user, each block.
const (
	smallKeys = 100
	smallP    = 0.01
)

// small measures making, filling and asking count filters of smallKeys keys, and the bytes
// that one takes on the heap.
func small(b io.Writer, peers []*filters.Peer, count, rounds int, bar *program.Progress) error {
	type row struct {
		name                    string
		make                    func() (filters.Filter, error)
		made, add, bytes, asked []float64
	}
	var rows []*row
	for _, p := range peers {
		if p.Make != nil && !p.Static && !p.Hashed && !p.Floor && !strings.HasSuffix(p.Name, ", batch") {
			rows = append(rows, &row{name: emphasized(p), make: func() (filters.Filter, error) { return p.Make(smallKeys, smallP) }})
		}
	}
	for _, s := range []bloom.Strategy{bloom.SplitBlock, bloom.DoubleHashing} {
		scheme := must(bloom.NewScheme(smallKeys, smallP, bloom.WithStrategy(s), bloom.WithHash(bloom.MapHash)))
		rows = append(rows, &row{name: fmt.Sprintf("**ours: %s, MapHash, by Scheme.Filter**", s), make: func() (filters.Filter, error) {
			f, err := scheme.Filter()
			return filters.Single(f), err
		}})
	}
	order := rand.New(rand.NewPCG(1, 2))
	slab, list := newSlab(false), make([]filters.Filter, count)
	// each processes a key of each filter in turn, and then the next one.
	each := func(number numbering, op func(f filters.Filter, key filters.Keys) int) float64 {
		var steps []float64
		for first := 0; first < smallKeys*count; first += chunkKeys {
			slab.fill(number, uint64(first), min(chunkKeys, smallKeys*count-first))
			start := time.Now()
			for k := range slab.Bytes {
				op(list[(first+k)%count], filters.Keys{Bytes: slab.Bytes[k : k+1], Answers: slab.Answers})
			}
			steps = append(steps, perOperation(start, len(slab.Bytes)))
		}
		return midmean(steps)
	}
	for round := range rounds {
		for _, i := range order.Perm(len(rows)) {
			r := rows[i]
			bar.Say("small filters, round %d of %d: %s", round+1, rounds, r.name)
			clear(list)
			before, start := heap(), time.Now()
			for j := range list {
				var err error
				if list[j], err = r.make(); err != nil {
					return err
				}
			}
			r.made = append(r.made, perOperation(start, count))
			r.bytes = append(r.bytes, (heap()-before)/float64(count))
			r.add = append(r.add, each(fresh(0), filters.Filter.Add))
			r.asked = append(r.asked, each(mixed(0, 1, 0), filters.Filter.Contains))
		}
	}
	fmt.Fprintf(b, "\n## Many small filters\n\n%s filters for %d keys at p = %s: to make one, to add a key to one after the other, to ask one after the other; bytes on the heap.\n\n", program.Grouped(uint64(count)), smallKeys, program.Percent(smallP))
	fmt.Fprint(b, "| filter | make, ns | bytes | add, ns | lookup, ns |\n|---|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %.0f | %.0f | %.1f | %.1f |\n", r.name, median(r.made), median(r.bytes), median(r.add), median(r.asked))
	}
	return nil
}

// perOperation returns the nanoseconds since start for each of count.
func perOperation(start time.Time, count int) float64 {
	return float64(time.Since(start).Nanoseconds()) / float64(count)
}

// heap returns the bytes of what is reachable.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
