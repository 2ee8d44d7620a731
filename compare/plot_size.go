package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/seed3447c163/bloom/compare/internal/figures"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawSizes draws, for each p and for adds and hits, what an operation costs as
// the filter grows out of the caches. With one n there is nothing to draw.
func drawSizes(r *report, dir string) (files []string, err error) {
	byRate := map[float64]int{}
	var rates []float64
	for _, at := range r.settings() {
		if byRate[at.p]++; byRate[at.p] == 2 {
			rates = append(rates, at.p)
		}
	}
	for _, rate := range rates {
		for _, op := range []int{opAdd, opHit} {
			path := filepath.Join(dir, fmt.Sprintf("size-%s-p%g.svg", opNames[op], rate))
			if err := drawSize(r, rate, op, path); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// A curve is one peer's medians over n.
type curve struct {
	info   *peerInfo
	points plotter.XYs
}

func (c curve) last() plotter.XY { return c.points[len(c.points)-1] }

func drawSize(r *report, rate float64, op int, path string) error {
	curves := curvesOf(r, rate, op)
	p := figures.New(fmt.Sprintf("%s: ns per operation against n, p = %s, one goroutine", opNames[op], figures.Percent(rate)))
	p.X.Label.Text = "keys in the filter"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = figures.RatioTicks{}
	p.Add(plotter.NewGrid())

	low, high := math.Inf(1), math.Inf(-1)
	first, last := math.Inf(1), math.Inf(-1)
	ns := map[float64]bool{}
	for _, c := range curves {
		line, dots, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return err
		}
		line.Color, line.Width = shadesOf(c.info)[1], vg.Points(1)
		dots.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: 2, Shape: draw.CircleGlyph{}}
		switch {
		case c.info.Ours:
			line.Width, dots.Radius = vg.Points(2.2), 3
		case c.info.Floor:
			line.Width, line.Dashes = vg.Points(1.5), []vg.Length{5, 3}
		}
		p.Add(line, dots)
		for _, at := range c.points {
			ns[at.X] = true
			low, high = min(low, at.Y), max(high, at.Y)
			first, last = min(first, at.X), max(last, at.X)
		}
	}
	p.X.Tick.Marker = countTicks(ns)
	p.X.Min, p.Y.Min, p.Y.Max = first, low*0.8, high*1.25
	// Room on the right for the names.
	p.X.Max = last * math.Pow(last/first, 0.55)
	const height = vg.Length(560)
	if err := nameCurves(p, curves, last, math.Log(p.Y.Max/p.Y.Min)/float64(height-90)*9.5); err != nil {
		return err
	}
	return figures.SaveSVG(760, height, path, p)
}

func curvesOf(r *report, rate float64, op int) (curves []curve) {
	for i := range r.Peers {
		c := curve{info: &r.Peers[i]}
		for _, s := range r.Series {
			if m := median(s.One[op]); s.Peer == c.info.Name && s.P == rate && m > 0 {
				c.points = append(c.points, plotter.XY{X: float64(s.N), Y: m})
			}
		}
		if len(c.points) > 0 {
			slices.SortFunc(c.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
			curves = append(curves, c)
		}
	}
	return curves
}

// nameCurves writes the peers' names to the right of their last points, moved
// apart to at least gap, the distance of two lines of text in the logarithm of y.
func nameCurves(p *plot.Plot, curves []curve, x, gap float64) error {
	slices.SortFunc(curves, func(a, b curve) int { return cmp.Compare(a.last().Y, b.last().Y) })
	heights := make([]float64, len(curves))
	for i, c := range curves {
		heights[i] = math.Log(c.last().Y)
	}
	figures.SpreadOut(heights, gap, math.Log(p.Y.Min)+gap/2, math.Log(p.Y.Max)-gap/2)
	for i, c := range curves {
		at := plotter.XYs{{X: x, Y: math.Exp(heights[i])}}
		l, err := figures.Labels(at, []string{fmt.Sprintf("%s  %s", short(c.last().Y), c.info.Name)}, 8, vg.Point{X: 22}, shadesOf(c.info)[0])
		if err != nil {
			return err
		}
		leader, err := plotter.NewLine(plotter.XYs{c.last(), {X: x * math.Pow(p.X.Max/p.X.Min, 0.028), Y: at[0].Y}})
		if err != nil {
			return err
		}
		leader.Color, leader.Width = shadesOf(c.info)[2], vg.Points(0.6)
		p.Add(leader, l)
	}
	return nil
}

// countTicks marks the n that were measured.
func countTicks(ns map[float64]bool) (ticks plot.ConstantTicks) {
	for n := range ns {
		ticks = append(ticks, plot.Tick{Value: n, Label: figures.Grouped(uint64(n))})
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	return ticks
}
