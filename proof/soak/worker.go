package main

import (
	"math/rand/v2"

	"github.com/seed3447c163/bloom"
)

// A worker is one goroutine of a round.
type worker struct {
	s      *soak
	k      kind
	f      filter
	m      *model
	random *rand.Rand
	done   map[string]int
}

// step does one random operation.
func (w *worker) step() {
	n := len(w.m.added)
	switch r := w.random.IntN(1000); {
	case r < 500:
		w.add(w.random.IntN(n))
	case r < 850:
		w.contains(w.f, w.random.IntN(n), "")
	case r < 920:
		w.addMany(w.random.IntN(n))
	case r < 990:
		w.containsMany(w.random.IntN(n))
	case r < 990+5*64/max(n, 64) || r == 990: // rarer where they take longer
		w.snapshot()
	case r < 993:
		w.union(w.random.IntN(n))
	}
}

func (w *worker) add(i int) {
	if w.f.Add(w.m.key(i)) {
		w.m.won[i].Add(1)
	}
	w.m.added[i].Store(true)
	w.done["add"]++
}

// contains asks for a key. What had been added before must be there.
func (w *worker) contains(f filter, i int, where string) {
	before := w.m.added[i].Load()
	if found := f.Contains(w.m.key(i)); before && !found {
		w.s.fault("%s: key %d is missed%s", w.k.name, i, where)
	}
	w.done["contains"]++
}

func (w *worker) batch(i int) (keys [][]byte) {
	for j := i; j < min(i+100, len(w.m.added)); j++ {
		keys = append(keys, w.m.key(j))
	}
	return keys
}

func (w *worker) addMany(i int) {
	keys := w.batch(i)
	added := make([]bool, len(keys))
	count := w.f.AddMany(keys, added)
	for j, won := range added {
		if won {
			w.m.won[i+j].Add(1)
			count--
		}
		w.m.added[i+j].Store(true)
	}
	if count != 0 {
		w.s.fault("%s: AddMany counts otherwise than it answers", w.k.name)
	}
	w.done["add in batches"] += len(keys)
}

func (w *worker) containsMany(i int) {
	keys := w.batch(i)
	before, found := make([]bool, len(keys)), make([]bool, len(keys))
	for j := range keys {
		before[j] = w.m.added[i+j].Load()
	}
	w.f.ContainsMany(keys, found)
	for j := range keys {
		if before[j] && !found[j] {
			w.s.fault("%s: key %d is missed in a batch", w.k.name, i+j)
		}
	}
	w.done["contains in batches"] += len(keys)
}

// snapshot writes the filter while others add to it, reads it, and looks for keys that
// had been added before.
func (w *worker) snapshot() {
	known := []int{}
	for range 20 {
		if i := w.random.IntN(len(w.m.added)); w.m.added[i].Load() {
			known = append(known, i)
		}
	}
	again := w.k.writeAndRead(w.s, w.f)
	for _, i := range known {
		w.contains(again, i, " in a snapshot")
	}
	w.done["snapshots"]++
}

// union brings keys in by another filter, where the kind can do that. Then they may
// have no winner.
func (w *worker) union(i int) {
	f, ok := w.f.(interface {
		Union(*bloom.BloomFilter) error
		Scheme() bloom.Scheme
	})
	if !ok {
		return
	}
	other, err := f.Scheme().Filter()
	if err != nil {
		w.s.fault("%s: %v", w.k.name, err)
		return
	}
	keys := w.batch(i)
	for j := range keys {
		w.m.united[i+j].Store(true)
	}
	other.AddMany(keys, nil)
	if err := f.Union(other); err != nil {
		w.s.fault("%s: %v", w.k.name, err)
		return
	}
	for j := range keys {
		w.m.added[i+j].Store(true)
	}
	w.done["unions"]++
}
