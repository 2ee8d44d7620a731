package main

import (
	"errors"
	"math/bits"
	"sync/atomic"
)

// errNoPages says that this system cannot be asked for pages of a size.
var errNoPages = errors.New("no choice of page size on this system")

// lineWords is a cache line in words.
const lineWords = 8

// floorPeers are what memory allows: any filter that touches one line a key costs
// at least this much, and its key and its hash on top.
func floorPeers() []*peer {
	var list []*peer
	for _, pages := range []struct {
		name string
		huge bool
	}{{"floor: a random line, 4 KiB pages", false}, {"floor: a random line, huge pages", true}} {
		if words, release, err := allocate(lineWords, pages.huge); err == nil {
			release(words)
			list = append(list, &peer{name: pages.name, hash: "–", safe: safeFull, blocked: true, floor: true, runner: floor{pages.huge}})
		}
	}
	return list
}

// floor measures one independent load of a random line (as hit) and one locked OR
// on a random line (as add) in an array of the size that our blocked filter has.
type floor struct{ huge bool }

func (f floor) measure(j job) (o outcome, err error) {
	if o.bits, err = referenceBits(j.n, j.p); err != nil {
		return o, err
	}
	words, release, err := allocate(int(o.bits+lineWords*64-1)/(lineWords*64)*lineWords, f.huge)
	if err != nil {
		return o, err
	}
	defer release(words)

	lines := uint64(len(words)) / lineWords
	none := func(s *slab, first uint64, count int) { s.set(first, count) }
	load := func(s *slab) int {
		sum := uint64(0)
		for i := range s.keys {
			line, _ := bits.Mul64(mix(s.first+uint64(i)), lines)
			sum ^= words[line*lineWords]
		}
		return int(sum & 1)
	}
	or := func(s *slab) int {
		for i := range s.keys {
			x := mix(s.first + uint64(i))
			line, low := bits.Mul64(x, lines)
			atomic.OrUint64(&words[line*lineWords], 1<<(low>>58))
		}
		return 0
	}
	var one, all stopwatch
	for _, each := range []struct {
		crew  crew
		watch *stopwatch
	}{{newCrew(1), &one}, {newCrew(j.workers), &all}} {
		// As many ORs as there are keys, but no more than measure well: every one
		// costs the same, in an empty array and in a full one.
		ors := min(max(j.n*uint64(j.fills), 1<<17), 1<<22)
		steps, _ := each.crew.run(ors, none, or)
		each.watch.note(opAdd, steps...)
		steps, _ = each.crew.run(1<<21, none, load)
		each.watch.note(opHit, steps...)
	}
	o.one, o.all = one.times(), all.times()
	return o, nil
}
