package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom/compare/internal/figures"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawRates draws how every peer's measured rate stands to its promise: a row a
// peer, a shape for each n and p, the most faithful on top.
func drawRates(r *report, path string) error {
	p := figures.New("Measured false-positive rate / promised rate")
	p.X.Label.Text = "left of the line: promise kept.  Red: broken by more than chance explains."
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, figures.RatioTicks{}
	p.Add(figures.Verticals())

	p.Legend.Top = true // where nobody is on the right
	rows := rateRows(r)
	low, high := 0.5, 2.0
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.TriangleGlyph{}}
	for i, at := range r.settings() {
		var points plotter.XYs
		var styles []draw.GlyphStyle
		for j, info := range rows {
			s := find(r.at(at), info.Name)
			if s == nil || s.Yes == 0 {
				continue
			}
			ratio := s.rate() / s.P
			low, high = min(low, ratio*0.8), max(high, ratio*1.25)
			points = append(points, plotter.XY{X: ratio, Y: float64(len(rows) - 1 - j)})
			style := draw.GlyphStyle{Color: shadesOf(info)[1], Radius: 3.5, Shape: shapes[i%len(shapes)]}
			if exceeds(s.Yes, s.Misses, s.P) {
				style.Color = broken
			}
			styles = append(styles, style)
		}
		if len(points) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		scatter.GlyphStyleFunc = func(i int) draw.GlyphStyle { return styles[i] }
		scatter.GlyphStyle = draw.GlyphStyle{Color: figures.Ink, Radius: 3.5, Shape: shapes[i%len(shapes)]}
		p.Add(scatter)
		p.Legend.Add(fmt.Sprintf("n = %s, p = %s", figures.Grouped(at.n), figures.Percent(at.p)), scatter)
	}
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -1}, {X: 1, Y: float64(len(rows))}})
	if err != nil {
		return err
	}
	one.Color, one.Width = figures.Ink, vg.Points(1)
	p.Add(one)

	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	var ticks plot.ConstantTicks
	for j, info := range rows {
		ticks = append(ticks, plot.Tick{Value: float64(len(rows) - 1 - j), Label: info.Name})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = ticks, 0, 0
	return figures.SaveSVG(760, 20*vg.Length(len(rows))+100, path, p)
}

// rateRows returns the peers that have a rate, ordered by the worst of it.
func rateRows(r *report) []*peerInfo {
	worst := map[string]float64{}
	for _, s := range r.Series {
		if s.Misses > 0 && !math.IsNaN(s.rate()) {
			worst[s.Peer] = max(worst[s.Peer], s.rate()/s.P)
		}
	}
	var rows []*peerInfo
	for i := range r.Peers {
		if _, ok := worst[r.Peers[i].Name]; ok {
			rows = append(rows, &r.Peers[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b *peerInfo) int { return cmp.Compare(worst[a.Name], worst[b.Name]) })
	return rows
}
