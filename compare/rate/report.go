package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed3447c163/bloom/compare/internal/program"
)

// A report is all that a run found.
type report struct {
	results []result
	taken   string
	budget  time.Duration
}

// names returns those of the subjects that were measured, of ours or of the others.
func (r *report) names(ours bool) (names []string) {
	for _, res := range r.results {
		if res.err == nil && res.subject.ours == ours && !slices.Contains(names, res.subject.name) {
			names = append(names, res.subject.name)
		}
	}
	return names
}

// of returns the results of a subject.
func (r *report) of(name string) (list []result) {
	for _, res := range r.results {
		if res.err == nil && res.subject.name == name {
			list = append(list, res)
		}
	}
	return list
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# False-positive rates, measured\n\n%s, within %s.\n", r.taken, r.budget)
	b.WriteString(`
Every filter is made by ` + "`New(n, p)`" + `, filled with n different keys and asked for keys that were not added. Where n is
small, thousands of filters, each with other keys.

- *predicted*: what ` + "`Strategy.FalsePositiveRate`" + ` says for the m and k that New chose, divided by p.
- *measured*: the share of the lookups that were answered with true, divided by p, and its standard error. With † too few
  true answers can be expected for that (p = 1e-9 would take days); it is the rate by the fill.
- *σ* after it: how many standard errors the true answers are from what the same filters' bits say.
- *by the fill*: the mean of the filters' rates by the bits that are set, divided by p. Given the bits, the rate is
  certain. *σ* after it: how many standard errors that is from the prediction.
- *kept*: neither figure is above p by more than 4 σ.

## In short

`)
	b.WriteString(r.summary())
	r.contrasts(&b)
	var lines []string
	for _, res := range r.results {
		if res.err != nil {
			lines = append(lines, fmt.Sprintf("- not measured: %s: %v", res.cell, res.err))
		} else if e := res.tally.rateError() / res.tally.rate(); res.cut && e > 0.05 {
			lines = append(lines, fmt.Sprintf("- ± %.0f %%: %s", e*100, res.cell))
		}
	}
	fmt.Fprintf(&b, "\n## What the time did not suffice for\n\n%s\n", cmp.Or(strings.Join(lines, "\n"), "Nothing."))
	for _, name := range r.names(true) {
		fmt.Fprintf(&b, "\n## %s\n\n| n | p | keys | m | k | filters | lookups | predicted | measured | σ | by the fill | σ | kept |\n|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n", name)
		for _, res := range r.of(name) {
			b.WriteString(line(res))
		}
	}
	return b.String()
}

func line(res result) string {
	t := res.tally
	measured := fmt.Sprintf("%.4g ± %.2g", t.rate()/res.p, t.rateError()/res.p)
	if !t.direct() {
		measured += " †"
	}
	kept := "yes"
	if !t.kept(res.p) {
		kept = "**no**"
	}
	return fmt.Sprintf("| %s | %g | %s | %d | %d | %d | %.3g | %.4f | %s | %s | %.4g ± %.2g | %s | %s |\n",
		program.Grouped(res.n), res.p, res.kind.name, res.m, res.k, t.filters, t.lookups, res.predicted/res.p, measured, signed(t.hitSigmas()),
		t.mean/res.p, t.fillError()/res.p, signed(deviation(t.mean, res.predicted, t.fillError())), kept)
}

func signed(sigmas float64) string {
	if math.IsNaN(sigmas) {
		return "–"
	}
	return fmt.Sprintf("%+.1f", sigmas)
}

// summary is a line for each strategy of ours.
func (r *report) summary() string {
	var b strings.Builder
	b.WriteString("| strategy | cells | kept | highest measured/p | furthest above p | lookups furthest from the bits | bits furthest from the prediction |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, name := range r.names(true) {
		cells, kept, ratio, above, hits, fill := r.of(name), 0, 0.0, math.Inf(-1), 0.0, 0.0
		for _, res := range cells {
			if res.tally.kept(res.p) {
				kept++
			}
			ratio, above = max(ratio, res.tally.rate()/res.p), max(above, res.tally.above(res.p))
			hits = furthest(hits, res.tally.hitSigmas())
			fill = furthest(fill, deviation(res.tally.mean, res.predicted, res.tally.fillError()))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %+.1f σ | %+.1f σ | %+.1f σ |\n", name, len(cells), kept, ratio, above, hits, fill)
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

// contrasts is a table of measured / p, a column each.
func (r *report) contrasts(b *strings.Builder) {
	if len(r.names(false)) == 0 {
		return
	}
	shown := append(slices.DeleteFunc(r.names(true), func(name string) bool { return strings.Contains(name, ",") }), r.names(false)...)
	fmt.Fprintf(b, "\n## Others, for contrast\n\nMeasured rate divided by p. † as above; – not measured. Bold: above p by more than 4 σ.\n\n| n | p | %s |\n|--:|--:|%s\n",
		strings.Join(shown, " | "), strings.Repeat("--:|", len(shown)))
	for _, p := range contrastRates {
		for _, res := range r.of(r.names(false)[0]) {
			if res.p != p {
				continue
			}
			fmt.Fprintf(b, "| %s | %g |", program.Grouped(res.n), p)
			for _, name := range shown {
				fmt.Fprintf(b, " %s |", r.point(name, res.n, p))
			}
			b.WriteString("\n")
		}
	}
}

// point returns the measured rate / p of one subject, n and p with all kinds of keys together.
func (r *report) point(name string, n uint64, p float64) string {
	ratio, weights, kept, direct := 0.0, 0.0, true, true
	for _, res := range r.of(name) {
		if res.n != n || res.p != p {
			continue
		}
		ratio += res.tally.rate() / p * res.tally.lookups
		weights += res.tally.lookups
		kept, direct = kept && res.tally.kept(p), direct && res.tally.direct()
	}
	if weights == 0 {
		return "–"
	}
	text := fmt.Sprintf("%.3g", ratio/weights)
	if !direct {
		text += " †"
	}
	if !kept {
		text = "**" + text + "**"
	}
	return text
}
