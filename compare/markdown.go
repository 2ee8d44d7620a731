package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed3447c163/bloom/compare/internal/figures"
)

// markdown writes the report as tables: two for each n and p, one goroutine and
// all cores, and the ratios to our rows.
func (r *report) markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Bloom filters compared\n\n")
	r.writeMachine(&b)
	for _, at := range r.settings() {
		fmt.Fprintf(&b, "\n## n = %s, p = %s\n", figures.Grouped(at.n), figures.Percent(at.p))
		list := r.at(at)
		for _, parallel := range []bool{false, true} {
			r.writeSpeeds(&b, list, parallel)
			r.writeRatios(&b, list, parallel)
		}
	}
	r.writePeers(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *report) writeMachine(b *strings.Builder) {
	m := r.Machine
	fmt.Fprintf(b, "Taken on %s with `%s`: %s, %d cores, caches %s, %s, %s, transparent huge pages: %s.\n",
		m.Date, m.Command, m.CPU, m.Cores, m.Caches, m.System, m.Go, m.HugePages)
	if q1, m, _ := quartiles(r.Free); !math.IsNaN(m) {
		fmt.Fprintf(b, "\nHow quiet it was: %d goroutines that only calculate did %.2f times the work of one (median over the rounds; in a quarter of them less than %.2f). Where that is far from %d, the figures on all cores mean little.\n",
			r.Machine.Cores, m, q1, r.Machine.Cores)
	}
	for _, left := range r.Left {
		fmt.Fprintf(b, "\nLeft out: %s.\n", left)
	}
	b.WriteString(`
Keys are 40 bytes long and look like URLs. Times are ns per operation, medians over
the rounds with the quartiles in brackets, the key's hash included; on all cores, the
time on the wall over the operations of all goroutines. *Rate* is the measured
false-positive rate and *rate/p* how it stands to the promise, bold where it is
broken. A static filter's add is what it costs to build, a key.
`)
}

// row is one line of a table, kept apart until the columns' order is known.
type row struct {
	info  *peerInfo
	s     *series
	order float64
}

// rows returns the series that have samples, the floors first, then by the time of
// a hit, the fastest first.
func (r *report) rows(list []*series, parallel bool) []row {
	var rows []row
	for _, s := range list {
		if len(s.samples(parallel)[opHit]) == 0 {
			continue
		}
		at := row{info: r.peer(s.Peer), s: s, order: median(s.samples(parallel)[opHit])}
		if at.info.Floor {
			at.order -= 1e9
		}
		rows = append(rows, at)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.order, b.order) })
	return rows
}

func heading(parallel bool) string {
	if parallel {
		return "All cores"
	}
	return "One goroutine"
}

func (r *report) writeSpeeds(b *strings.Builder, list []*series, parallel bool) {
	rows := r.rows(list, parallel)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", heading(parallel))
	b.WriteString("| filter | concurrent use | bits/key | rate | rate/p | add | duplicate | hit | miss | mixed |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, at := range rows {
		bitsPerKey, rate, kept := fmt.Sprintf("%.2f", at.s.bitsPerKey()), "–", "–"
		if at.s.Misses > 0 {
			rate, kept = figures.Percent(at.s.rate()), fmt.Sprintf("%.2f", at.s.rate()/at.s.P)
			if exceeds(at.s.Yes, at.s.Misses, at.s.P) {
				kept = "**" + kept + "**"
			}
		}
		safe := at.info.Safe
		if at.info.Floor {
			bitsPerKey, safe = "–", "–"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |", emphasized(at.info), safe, bitsPerKey, rate, kept)
		for op := range opCount {
			fmt.Fprintf(b, " %s |", spread(at.s.samples(parallel)[op]))
		}
		b.WriteString("\n")
	}
}

// writeRatios divides every peer's median by ours: above 1, ours is faster.
func (r *report) writeRatios(b *strings.Builder, list []*series, parallel bool) {
	var ours []*series
	for _, name := range []string{referencePortable, referenceFastest} {
		if s := find(list, name); s != nil {
			ours = append(ours, s)
		}
	}
	rows := r.rows(list, parallel)
	if len(ours) == 0 || len(rows) <= len(ours) {
		return
	}
	fmt.Fprintf(b, "\n%s, time divided by ours (above 1: ours is faster)\n\n| filter |", heading(parallel))
	for _, s := range ours {
		for _, op := range opNames {
			fmt.Fprintf(b, " %s / %s |", op, strings.TrimPrefix(s.Peer, "ours: "))
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(ours)*opCount) + "\n")
	for _, at := range rows {
		fmt.Fprintf(b, "| %s |", emphasized(at.info))
		for _, s := range ours {
			for op := range opCount {
				ratio := median(at.s.samples(parallel)[op]) / median(s.samples(parallel)[op])
				fmt.Fprintf(b, " %s |", number(ratio, "%.2f"))
			}
		}
		b.WriteString("\n")
	}
}

func (r *report) writePeers(b *strings.Builder) {
	b.WriteString("\n## The filters\n\n| filter | version | hash | concurrent use | blocked | static | module |\n|---|---|---|---|---|---|---|\n")
	mark := map[bool]string{true: "yes", false: "no"}
	for _, p := range r.Peers {
		if p.Floor {
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n",
			emphasized(&p), p.Version, p.Hash, p.Safe, mark[p.Blocked], mark[p.Static], p.Module)
	}
}

func emphasized(p *peerInfo) string {
	switch {
	case p.Ours:
		return "**" + p.Name + "**"
	case p.Floor:
		return "*" + p.Name + "*"
	}
	return p.Name
}

// spread writes a median with its quartiles.
func spread(samples []float64) string {
	q1, m, q3 := quartiles(samples)
	if math.IsNaN(m) {
		return "–"
	}
	return fmt.Sprintf("%.1f (%.1f–%.1f)", m, q1, q3)
}

func number(x float64, format string) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}
