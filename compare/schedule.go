package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A plan is what to measure.
type plan struct {
	peers   []*peer
	sizes   []uint64
	rates   []float64
	rounds  func(n uint64) int
	workers int
	quick   bool
}

// job returns the visit of one round, as long as it must be and no longer.
func (p plan) job(n uint64, rate float64, round int) job {
	j := job{n: n, p: rate, round: round, workers: p.workers, fills: 1, probes: 1 << 18}
	if n < 200_000 {
		j.fills = int(200_000 / n)
	}
	// So many misses that all rounds together meet some thousand false positives;
	// a single one, half of that.
	j.misses = max(1<<19, uint64(200/rate))
	if p.quick {
		j.fills, j.probes, j.misses = max(j.fills/4, 1), 1<<16, max(1<<19, uint64(50/rate))
	}
	return j
}

// run measures all peers, setting after setting, and within one in rounds: each
// peer once a round, in an order that changes, so that whatever slows the machine
// for a while slows them all. After each setting it gives keep what it has, and how
// many cores were free: a run may take hours, and someone may end it.
func (p plan) run(bar *progress, keep func(all []*series, free []float64) error) error {
	var all []*series
	var free []float64
	bar.total = p.work()
	for _, rate := range p.rates {
		for _, n := range p.sizes {
			list := make([]*series, len(p.peers))
			for i, peer := range p.peers {
				list[i] = &series{Peer: peer.name, N: n, P: rate}
			}
			order := rand.New(rand.NewPCG(n, uint64(1/rate)))
			for round := range p.rounds(n) {
				free = append(free, freeCores(p.workers))
				for _, i := range order.Perm(len(p.peers)) {
					bar.say(fmt.Sprintf("n=%d p=%g round %d of %d: %s", n, rate, round+1, p.rounds(n), p.peers[i].name))
					start := time.Now()
					o, err := p.peers[i].measure(p.job(n, rate, round))
					if err != nil {
						return err
					}
					list[i].note(o)
					bar.done(jobKey{p.peers[i].name, n, rate}, time.Since(start))
				}
			}
			all = append(all, list...)
			if err := keep(all, free); err != nil {
				return err
			}
		}
	}
	return nil
}

// work returns how often each visit is to be made, and a first guess of its cost.
func (p plan) work() map[jobKey]*visits {
	total := map[jobKey]*visits{}
	for _, rate := range p.rates {
		for _, n := range p.sizes {
			j := p.job(n, rate, 0)
			ops := 2*n*uint64(j.fills) + 4*j.probes + 2*j.misses
			for _, peer := range p.peers {
				total[jobKey{peer.name, n, rate}] = &visits{left: p.rounds(n), each: time.Duration(ops) * 60 * time.Nanosecond}
			}
		}
	}
	return total
}
