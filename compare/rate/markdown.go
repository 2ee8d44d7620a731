package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed3447c163/bloom/compare/internal/environment"
	"github.com/seed3447c163/bloom/compare/internal/figures"
)

// A report is all that a run found.
type report struct {
	results  []result
	machine  environment.Machine
	versions map[string]string
	budget   time.Duration
	took     time.Duration
}

// group are the cells of one subject.
type group struct {
	subject *subject
	results []result // without those that were not measured
	missed  []result
}

func (r *report) groups() (groups []*group) {
	byName := map[string]*group{}
	for _, res := range r.results {
		g := byName[res.subject.name]
		if g == nil {
			g = &group{subject: res.subject}
			byName[res.subject.name] = g
			groups = append(groups, g)
		}
		if res.err != nil {
			g.missed = append(g.missed, res)
		} else {
			g.results = append(g.results, res)
		}
	}
	return groups
}

func (r *report) markdown() string {
	var b strings.Builder
	m := r.machine
	fmt.Fprintf(&b, "# False-positive rates, measured\n\nTaken on %s with `%s`, which took %s: %s, %d cores, %s, %s.\n",
		m.Date, m.Command, r.took.Round(time.Second), m.CPU, m.Cores, m.System, m.Go)
	b.WriteString(`
Every filter is made by ` + "`New(n, p)`" + `, filled with n different keys and asked for keys that were not added. Where n is
small, thousands of filters, each with other keys.

- *predicted*: what ` + "`Strategy.FalsePositiveRate`" + ` says for the m and k that New chose, divided by p.
- *measured*: the share of the lookups that were answered with true, divided by p, and its standard error. With † too few
  true answers can be expected for that (p = 1e-9 would take days); it is the rate by the fill.
- *by the fill*: the mean of the filters' rates by the bits that are set, divided by p. Given the bits, the rate is
  certain: (x/m)^k, for Blocked the mean over its blocks.
- *σ*: how many standard errors the figure before it is from the prediction. The error has two parts: that of the
  lookups, and that of the filters, because all lookups of a filter share the fill it happens to have.
- *kept*: neither figure is above p by more than 4 σ.

![measured rate divided by p, against n](rate-grid.svg)

## In short

`)
	b.WriteString(r.summary())
	r.writeWorst(&b)
	r.writeContrasts(&b)
	r.writeUnfinished(&b)
	for _, g := range r.groups() {
		if g.subject.ours {
			writeGroup(&b, g)
		}
	}
	return b.String()
}

// summary is a line for each strategy of ours.
func (r *report) summary() string {
	var b strings.Builder
	b.WriteString("| strategy | cells | kept | highest measured/p | furthest above p | furthest from the prediction | by the fill |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, g := range r.groups() {
		if !g.subject.ours || len(g.results) == 0 {
			continue
		}
		kept, ratio, above, direct, fill := 0, 0.0, math.Inf(-1), 0.0, 0.0
		for _, res := range g.results {
			v := res.verdict
			if v.kept() {
				kept++
			}
			ratio = max(ratio, v.rate/res.p)
			above = max(above, v.above)
			direct = furthest(direct, v.sigmas)
			fill = furthest(fill, v.fillSig)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %+.1f σ | %+.1f σ | %+.1f σ |\n", g.subject.name, len(g.results), kept, ratio, above, direct, fill)
	}
	return b.String()
}

// furthest returns the one that is further from 0; NaN is not.
func furthest(a, b float64) float64 {
	if math.Abs(b) > math.Abs(a) {
		return b
	}
	return a
}

const worstCells = 12

func (r *report) writeWorst(b *strings.Builder) {
	var ours []result
	for _, res := range r.results {
		if res.subject.ours && res.err == nil {
			ours = append(ours, res)
		}
	}
	rank := func(title string, by func(res result) float64) {
		list := slices.Clone(ours)
		slices.SortStableFunc(list, func(a, b result) int { return cmp.Compare(by(b), by(a)) })
		fmt.Fprintf(b, "\n## %s\n\n| strategy | %s|---%s", title, tableHead, tableRule)
		for _, res := range list[:min(worstCells, len(list))] {
			fmt.Fprintf(b, "| %s | %s", res.subject.name, line(res))
		}
	}
	rank("The cells furthest above p, in σ", func(res result) float64 { return res.verdict.above })
	rank("The cells furthest from the prediction, in σ", func(res result) float64 {
		return math.Abs(furthest(furthest(0, res.verdict.sigmas), res.verdict.fillSig))
	})
}

const (
	tableHead = "n | p | keys | m | k | filters | lookups | predicted | measured | σ | by the fill | σ | kept |\n"
	tableRule = "|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
)

func line(res result) string {
	v := res.verdict
	measured := fmt.Sprintf("%.4g ± %.2g", v.rate/res.p, v.relative*expectedOf(res)/res.p)
	if !v.direct {
		measured += " †"
	}
	kept := "yes"
	if !v.kept() {
		kept = "**no**"
	}
	fillError := res.tally.fillError() / res.p
	return fmt.Sprintf("%s | %g | %s | %d | %d | %d | %.3g | %.4f | %s | %s | %.4g ± %.2g | %s | %s |\n",
		figures.Grouped(res.n), res.p, res.kind.name, res.m, res.k, res.tally.filters, res.tally.probes,
		res.predicted/res.p, measured, signed(v.sigmas), v.fill/res.p, fillError, signed(v.fillSig), kept)
}

func expectedOf(res result) float64 {
	if math.IsNaN(res.predicted) {
		return res.verdict.rate
	}
	return res.predicted
}

func signed(sigmas float64) string {
	if math.IsNaN(sigmas) {
		return "–"
	}
	return fmt.Sprintf("%+.1f", sigmas)
}

func writeGroup(b *strings.Builder, g *group) {
	if len(g.results) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| %s%s", g.subject.name, tableHead, tableRule)
	for _, res := range g.results {
		b.WriteString("| " + line(res))
	}
}

// writeContrasts is a table for each p: measured / p against n, a column each.
func (r *report) writeContrasts(b *strings.Builder) {
	groups := r.groups()
	if !slices.ContainsFunc(groups, func(g *group) bool { return !g.subject.ours }) {
		return
	}
	b.WriteString("\n## Others, for contrast\n\nMeasured rate divided by p, for the others with URLs as keys. † as above; – not measured. Bold: above p by more than 4 σ.\n")
	for _, p := range r.rates() {
		if !slices.Contains(contrastRates, p) {
			continue
		}
		var shown []*group
		for _, g := range groups {
			if len(g.at(p)) > 0 && (!g.subject.ours || !strings.Contains(g.subject.name, ",")) {
				shown = append(shown, g)
			}
		}
		fmt.Fprintf(b, "\np = %g\n\n| n |", p)
		for _, g := range shown {
			fmt.Fprintf(b, " %s |", g.subject.name)
		}
		b.WriteString("\n|--:|" + strings.Repeat("--:|", len(shown)) + "\n")
		for _, n := range r.sizes() {
			fmt.Fprintf(b, "| %s |", figures.Grouped(n))
			for _, g := range shown {
				fmt.Fprintf(b, " %s |", g.contrastCell(n, p))
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n| filter | version | sized |\n|---|---|---|\n")
	for _, g := range groups {
		if s := g.subject; !s.ours {
			version := r.versions[s.peer]
			fmt.Fprintf(b, "| %s | %s | %s |\n", s.name, cmp.Or(version, "–"), s.about)
		}
	}
}

func (g *group) contrastCell(n uint64, p float64) string {
	for _, pt := range g.at(p) {
		if pt.n != n {
			continue
		}
		text := fmt.Sprintf("%.3g", pt.ratio)
		if !pt.direct {
			text += " †"
		}
		if !pt.kept {
			text = "**" + text + "**"
		}
		return text
	}
	return "–"
}

// A point is the cells of one subject, n and p with all kinds of keys together.
type point struct {
	n      uint64
	ratio  float64 // measured / p
	direct bool
	kept   bool
}

// at returns a subject's points at one p, by n. Cells are weighted by their errors.
func (g *group) at(p float64) (points []point) {
	type sum struct{ weight, rate float64 }
	sums := map[uint64]sum{}
	byN := map[uint64]*point{}
	for _, res := range g.results {
		if res.p != p || !(res.verdict.rate >= 0) {
			continue
		}
		pt := byN[res.n]
		if pt == nil {
			pt = &point{n: res.n, direct: true, kept: true}
			byN[res.n] = pt
		}
		pt.direct = pt.direct && res.verdict.direct
		pt.kept = pt.kept && res.verdict.kept()
		weight := 1.0
		if res.verdict.direct {
			weight = res.tally.probes
		}
		s := sums[res.n]
		sums[res.n] = sum{s.weight + weight, s.rate + weight*res.verdict.rate}
	}
	for n, pt := range byN {
		pt.ratio = sums[n].rate / sums[n].weight / p
		points = append(points, *pt)
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.n, b.n) })
	return points
}

// wantedError is the relative error that cells are planned for.
const wantedError = 0.05

// writeUnfinished lists what the budget did not suffice for.
func (r *report) writeUnfinished(b *strings.Builder) {
	var lines []string
	for _, res := range r.results {
		where := fmt.Sprintf("%s, n = %s, p = %g, %s keys", res.subject.name, figures.Grouped(res.n), res.p, res.kind.name)
		switch {
		case res.err != nil:
			lines = append(lines, fmt.Sprintf("- not measured: %s: %v", where, res.err))
		case res.cut && res.verdict.relative > wantedError:
			lines = append(lines, fmt.Sprintf("- ± %.0f %%: %s, %d of %d filters, %.2g lookups", res.verdict.relative*100, where, res.tally.filters, filters(res.n), res.tally.probes))
		}
	}
	fmt.Fprintf(b, "\n## What the budget of %v did not suffice for\n\n", r.budget)
	if len(lines) == 0 {
		fmt.Fprintf(b, "Nothing: every cell has a relative standard error of at most %g %%, or was not to be had by lookups in minutes (†).\n", wantedError*100)
		return
	}
	fmt.Fprintf(b, "These have a relative standard error above %g %%.\n\n%s\n", wantedError*100, strings.Join(lines, "\n"))
}

func (r *report) rates() (ps []float64) {
	for _, res := range r.results {
		if !slices.Contains(ps, res.p) {
			ps = append(ps, res.p)
		}
	}
	slices.SortFunc(ps, func(a, b float64) int { return cmp.Compare(b, a) })
	return ps
}

func (r *report) sizes() (ns []uint64) {
	for _, res := range r.results {
		if !slices.Contains(ns, res.n) {
			ns = append(ns, res.n)
		}
	}
	slices.Sort(ns)
	return ns
}
