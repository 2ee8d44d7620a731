package main

import (
	"encoding/json"
	"math"
	"os"

	"github.com/seed3447c163/bloom/compare/internal/environment"
)

// A report is everything that a run found, before it is made into tables and
// plots; results.json keeps it, so that those can be made again without measuring.
type report struct {
	Machine environment.Machine
	Peers   []peerInfo
	Left    []string  // what was left out, and why
	Free    []float64 // cores that were free, at the start of each round
	Series  []*series
}

// A peerInfo is what a table says about a peer.
type peerInfo struct {
	Name, Module, Version, Hash, Safe string
	Blocked, Static, Ours, Floor      bool
}

// A series is the samples of one peer at one n and p, a sample a round.
type series struct {
	Peer   string
	N      uint64
	P      float64
	Bits   uint64
	Yes    uint64 // misses that were answered with true
	Misses uint64
	One    [opCount][]float64 // ns per operation on one goroutine
	All    [opCount][]float64 // and on all cores
}

func (s *series) note(o outcome) {
	s.Bits = o.bits
	s.Yes += o.yes
	s.Misses += o.misses
	for op := range opCount {
		if !math.IsNaN(o.one[op]) {
			s.One[op] = append(s.One[op], o.one[op])
		}
		if !math.IsNaN(o.all[op]) {
			s.All[op] = append(s.All[op], o.all[op])
		}
	}
}

// samples returns those on one goroutine or on all cores.
func (s *series) samples(parallel bool) *[opCount][]float64 {
	if parallel {
		return &s.All
	}
	return &s.One
}

func (s *series) bitsPerKey() float64 { return float64(s.Bits) / float64(s.N) }

// rate returns the measured false-positive rate, NaN if none was.
func (s *series) rate() float64 { return float64(s.Yes) / float64(s.Misses) }

func (r *report) peer(name string) *peerInfo {
	for i := range r.Peers {
		if r.Peers[i].Name == name {
			return &r.Peers[i]
		}
	}
	return nil
}

// A setting is one n and p.
type setting struct {
	n uint64
	p float64
}

// settings returns those of the report in the order they were measured.
func (r *report) settings() []setting {
	var list []setting
	seen := map[setting]bool{}
	for _, s := range r.Series {
		at := setting{s.N, s.P}
		if !seen[at] {
			seen[at] = true
			list = append(list, at)
		}
	}
	return list
}

// at returns the series of a setting, and the one of a peer's name in it.
func (r *report) at(want setting) (list []*series) {
	for _, s := range r.Series {
		if s.N == want.n && s.P == want.p {
			list = append(list, s)
		}
	}
	return list
}

func find(list []*series, peer string) *series {
	for _, s := range list {
		if s.Peer == peer {
			return s
		}
	}
	return nil
}

func (r *report) save(path string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func load(path string) (*report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(report)
	return r, json.Unmarshal(data, r)
}
