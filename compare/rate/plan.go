package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"
)

// fullCrossN and fullCrossP bound the cells that are measured with every kind of
// key. Beyond, where a cell takes seconds or minutes, the kinds take turns.
const (
	fullCrossN = 1_000_000
	fullCrossP = 1e-5
)

// contrastRates are those that the contrasts are measured at, as far as they are
// asked for: enough to see how they stand.
var contrastRates = []float64{0.01, 1e-4, 1e-6}

// grid returns the cells of a run.
func (o options) grid() (cells []cell) {
	for si, s := range ourSubjects() {
		if !o.subjects.MatchString(s.name) {
			continue
		}
		for ni, n := range o.sizes {
			for pi, p := range o.rates {
				if n > s.maxN {
					continue
				}
				for ki, k := range kinds {
					if n <= fullCrossN && p >= fullCrossP && si < 3 || ki == (si+ni+pi)%len(kinds) {
						cells = append(cells, cell{s, k, n, p})
					}
				}
			}
		}
	}
	for _, s := range contrasts() {
		if !o.subjects.MatchString(s.name) {
			continue
		}
		for _, n := range o.sizes {
			for _, p := range o.rates {
				if n <= s.maxN && slices.Contains(contrastRates, p) {
					cells = append(cells, cell{s, kinds[1], n, p})
				}
			}
		}
	}
	return cells
}

// run measures the cells, some at a time, the cheap ones first. Each may take what
// is left of the budget divided by the cells that are left: what the cheap ones
// leave goes to the dear ones. Results are in the order of the cells.
func run(cells []cell, budget time.Duration, bar *progress) []result {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cells[a].cost(), cells[b].cost()) })

	workers := min(runtime.GOMAXPROCS(0), len(cells))
	deadline := time.Now().Add(budget)
	results := make([]result, len(cells))
	next := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				if next == len(order) {
					mu.Unlock()
					return
				}
				i, left := order[next], len(order)-next
				next++
				bar.say(next, len(order), time.Until(deadline), cells[i])
				mu.Unlock()
				share := time.Until(deadline) * time.Duration(workers) / time.Duration(left+workers-1)
				if share <= 0 {
					results[i] = result{cell: cells[i], err: fmt.Errorf("no time left of the %v", budget)}
					continue
				}
				results[i] = cells[i].measure(time.Now().Add(share))
			}
		})
	}
	wg.Wait()
	bar.finish()
	return results
}

// progress tells what is going on: on a terminal in one line that is written over,
// elsewhere in a line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	last     time.Time
}

// plainEvery is how often a log hears of us.
const plainEvery = 10 * time.Second

func (b *progress) say(at, all int, left time.Duration, c cell) {
	text := fmt.Sprintf("cell %d of %d, %s of the budget left | %s, n = %d, p = %g, %s keys",
		at, all, left.Round(time.Second), c.subject.name, c.n, c.p, c.kind.name)
	switch {
	case b.terminal:
		fmt.Fprintf(b.out, "\r\x1b[K%s", text)
	case time.Since(b.last) >= plainEvery:
		b.last = time.Now()
		fmt.Fprintln(b.out, text)
	}
}

// finish leaves the terminal's line.
func (b *progress) finish() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
