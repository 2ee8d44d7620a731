package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/compare/internal/program"
)

// A series is the samples of one peer at one n and p, a sample a round.
type series struct {
	peer              *filters.Peer
	bits, yes, misses uint64
	one, all          [opCount][]float64 // ns per operation on one goroutine, on all cores
}

func (s *series) note(o outcome) {
	s.bits, s.yes, s.misses = o.bits, s.yes+o.yes, s.misses+o.misses
	for op := range opCount {
		s.one[op] = append(s.one[op], o.one[op])
		s.all[op] = append(s.all[op], o.all[op])
	}
}

// A table is what was found at one n and p.
type table struct {
	n    uint64
	p    float64
	rows []*series
}

// sort puts the floors first, then the fastest lookups.
func (t *table) sort() {
	key := func(s *series) float64 {
		x := median(s.one[opHit])
		if s.peer.Floor {
			x -= 1e9
		}
		return x
	}
	slices.SortStableFunc(t.rows, func(a, b *series) int { return cmp.Compare(key(a), key(b)) })
}

// heads are the columns of all operations, and their alignments.
var heads = [2]string{" " + strings.Join(opNames[:], " | ") + " |", strings.Repeat("--:|", opCount)}

// write writes two tables: times, and how many times that of the reference they are.
func (t *table) write(b io.Writer) {
	fmt.Fprintf(b, "\n## n = %s, p = %s\n\n", program.Grouped(t.n), program.Percent(t.p))
	fmt.Fprintf(b, "| filter | concurrent use | bits/key | rate |%s\n|---|---|--:|--:|%s\n", heads[0], heads[1])
	for _, s := range t.rows {
		perKey, rate, safe := "–", "–", "–"
		if s.misses > 0 {
			perKey, rate, safe = fmt.Sprintf("%.1f", float64(s.bits)/float64(t.n)), program.Percent(float64(s.yes)/float64(s.misses)), s.peer.Safe.String()
			if exceeds(s.yes, s.misses, t.p) {
				rate = "**" + rate + "**"
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |", emphasized(s.peer), safe, perKey, rate)
		for op := range opCount {
			fmt.Fprintf(b, " %s (%s) |", number(median(s.one[op]), "%.1f"), number(median(s.all[op]), "%.1f"))
		}
		fmt.Fprintln(b)
	}
	at := slices.IndexFunc(t.rows, func(s *series) bool { return s.peer.Name == filters.Reference })
	if at < 0 {
		return
	}
	fmt.Fprintf(b, "\nTime divided by that of %q in the same round, medians; first one goroutine, then all cores:\n\n| filter |%s%[2]s\n|---|%s%[3]s\n", filters.Reference, heads[0], heads[1])
	for _, s := range t.rows {
		fmt.Fprintf(b, "| %s |", emphasized(s.peer))
		for i, times := range [][opCount][]float64{s.one, s.all} {
			reference := [][opCount][]float64{t.rows[at].one, t.rows[at].all}[i]
			for op := range opCount {
				fmt.Fprintf(b, " %s |", number(ratio(times[op], reference[op]), "%.2f"))
			}
		}
		fmt.Fprintln(b)
	}
}

// ratio is the median of the ratios round by round: what slows the machine for a while
// slows both.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, min(len(a), len(b)))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

func writePeers(b io.Writer, peers []*filters.Peer, versions map[string]string) {
	fmt.Fprint(b, "\n## The other filters\n\n| filter | version | hash | concurrent use | module |\n|---|---|---|---|---|\n")
	for _, p := range peers {
		if p.Module != "" {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", p.Name, versions[p.Module], p.Hash, p.Safe, p.Module)
		}
	}
}

func emphasized(p *filters.Peer) string {
	switch {
	case p.Ours:
		return "**" + p.Name + "**"
	case p.Floor:
		return "*" + p.Name + "*"
	}
	return p.Name
}

func number(x float64, format string) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}
