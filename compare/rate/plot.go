package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed3447c163/bloom/compare/internal/figures"
)

// Ours are shades of blue, the others have colours of their own.
var (
	ourColours   = []color.Color{color.RGBA{0x0b, 0x3c, 0x7d, 0xff}, color.RGBA{0x2b, 0x7b, 0xc4, 0xff}, color.RGBA{0x93, 0xc4, 0xe9, 0xff}}
	otherColours = []color.Color{
		color.RGBA{0xc6, 0x28, 0x28, 0xff}, color.RGBA{0x4a, 0x4a, 0x4a, 0xff}, color.RGBA{0xb0, 0x7a, 0x00, 0xff},
		color.RGBA{0x45, 0xa8, 0x6b, 0xff}, color.RGBA{0x8e, 0x44, 0xad, 0xff},
	}
	ourShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
)

// draw draws measured / p against n, a panel for each p that the others have, too, or
// for every p if there are no others. Without a single point it draws nothing.
func (r *report) draw(path string) error {
	var all, compared []*plot.Plot
	for _, p := range r.rates() {
		panel, contrast, err := r.panel(p)
		if err != nil {
			return err
		}
		if panel != nil {
			all = append(all, panel)
		}
		if contrast {
			compared = append(compared, panel)
		}
	}
	if len(compared) > 0 {
		all = compared
	}
	if len(all) == 0 {
		return nil
	}
	return figures.SaveSVG(760, 330, path, all...)
}

// panel returns nil where nothing was measured, and whether there are others in it.
func (r *report) panel(rate float64) (p *plot.Plot, contrast bool, err error) {
	p = figures.New(fmt.Sprintf("Measured false-positive rate / asked rate, p = %g", rate))
	p.X.Label.Text = "keys in the filter"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = figures.RatioTicks{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = figures.Faint, figures.Faint
	p.Add(grid)
	p.Legend.Top = true

	low, high := 0.5, 2.0
	first, last := math.Inf(1), math.Inf(-1)
	ours, others := 0, 0
	var add []func() // ours last, on top of the others
	for _, g := range r.groups() {
		var style draw.LineStyle
		glyph := draw.GlyphStyle{Radius: 2.5, Shape: draw.RingGlyph{}}
		if g.subject.ours {
			style = draw.LineStyle{Color: ourColours[ours%len(ourColours)], Width: vg.Points(2)}
			glyph.Shape = ourShapes[ours%len(ourShapes)]
			if ours++; ours > len(ourColours) {
				continue // the same strategies with another hash lie on top of these
			}
		} else {
			style = draw.LineStyle{Color: otherColours[others%len(otherColours)], Width: vg.Points(1)}
			others++
		}
		glyph.Color = style.Color
		var xys plotter.XYs
		for _, pt := range g.at(rate) {
			if pt.ratio > 0 {
				xys = append(xys, plotter.XY{X: float64(pt.n), Y: pt.ratio})
				low, high = min(low, pt.ratio*0.8), max(high, pt.ratio*1.25)
				first, last = min(first, float64(pt.n)), max(last, float64(pt.n))
			}
		}
		if len(xys) == 0 {
			continue
		}
		contrast = contrast || !g.subject.ours
		line, dots, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, false, err
		}
		line.LineStyle, dots.GlyphStyle = style, glyph
		p.Legend.Add(g.subject.name, line, dots)
		if g.subject.ours {
			add = append(add, func() { p.Add(line, dots) })
		} else {
			p.Add(line, dots)
		}
	}
	if last < first {
		return nil, false, nil
	}
	one, err := plotter.NewLine(plotter.XYs{{X: first, Y: 1}, {X: last, Y: 1}})
	if err != nil {
		return nil, false, err
	}
	one.Color, one.Width = figures.Ink, vg.Points(0.7)
	p.Add(one)
	for _, f := range add {
		f()
	}
	p.X.Min, p.X.Max = first, last*math.Pow(max(last/first, 10), 0.4) // room for the legend
	p.Y.Min, p.Y.Max = max(low, 0.05), high                           // far below 1 there is nothing to see
	var ticks plot.ConstantTicks
	for n := first; n <= last; n *= 10 {
		ticks = append(ticks, plot.Tick{Value: n, Label: figures.Grouped(uint64(n))})
	}
	p.X.Tick.Marker = ticks
	return p, contrast, nil
}
