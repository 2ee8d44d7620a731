package main

import "regexp"

// A filter is a peer's filter behind the smallest interface that measures it. One
// call takes a whole chunk, so that the calls for the keys are direct, as in a
// user's program, and the compiler may inline them.
type filter interface {
	// addAll adds the keys and returns how many the filter called new, 0 if it
	// does not say.
	addAll(keys [][]byte) int
	// containsAll returns for how many of the keys the answer was true.
	containsAll(keys [][]byte) int
	// bits returns the memory that the filter's bits take, in bits.
	bits() uint64
}

// A builder is a static filter: addAll collects, build makes the filter of it.
type builder interface{ build() }

// safety says what several goroutines may do with a filter at once.
type safety int

const (
	safeNone    safety = iota // nothing: even asking changes it
	safeReaders               // ask, while nobody adds
	safeFull                  // add and ask
)

func (s safety) String() string {
	return [...]string{"no", "readers only", "yes"}[s]
}

// A peer is one way of one library to be a filter.
type peer struct {
	name    string
	module  string // path, for the version; empty if it is none
	hash    string
	safe    safety
	blocked bool // all bits of a key in one cache line
	static  bool // all keys must be known when it is built
	ours    bool
	floor   bool // no filter but what the memory allows
	make    func(n uint64, p float64) (filter, error)
	runner  runner // for those that are not Go filters
	version string // for those that are not Go modules
}

// measure runs a job on the peer.
func (p *peer) measure(j job) (outcome, error) {
	if p.runner != nil {
		return p.runner.measure(j)
	}
	return inProcess{p}.measure(j)
}

// goPeers is every filter written in Go, ours first.
func goPeers() []*peer {
	var all []*peer
	for _, list := range [][]*peer{
		ourPeers(),
		bitsAndBloomsPeers(),
		holimanPeers(),
		ristrettoPeers(),
		boomFiltersPeers(),
		bbloomPeers(),
		parquetPeers(),
		pebblePeers(),
		fusePeers(),
	} {
		all = append(all, list...)
	}
	return all
}

// matching returns the peers whose names match.
func matching(peers []*peer, name *regexp.Regexp) []*peer {
	var kept []*peer
	for _, p := range peers {
		if name.MatchString(p.name) {
			kept = append(kept, p)
		}
	}
	return kept
}
