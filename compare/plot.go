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
	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// Ours is blue, the floor green and everyone else grey; the operations are shades.
var colours = []struct {
	name   string
	member func(*filters.Peer) bool
	shades [3]color.RGBA
}{
	{"ours", func(p *filters.Peer) bool { return p.Ours }, [3]color.RGBA{{0x0b, 0x3c, 0x7d, 0xff}, {0x2b, 0x7b, 0xc4, 0xff}, {0x93, 0xc4, 0xe9, 0xff}}},
	{"others", func(p *filters.Peer) bool { return !p.Ours && !p.Floor }, [3]color.RGBA{{0x4a, 0x4a, 0x4a, 0xff}, {0x8c, 0x8c, 0x8c, 0xff}, {0xc9, 0xc9, 0xc9, 0xff}}},
	{"floor", func(p *filters.Peer) bool { return p.Floor }, [3]color.RGBA{{0x1b, 0x6e, 0x3c, 0xff}, {0x45, 0xa8, 0x6b, 0xff}, {0xa6, 0xd9, 0xb7, 0xff}}},
}

var shownOps = [3]int{opAdd, opHit, opMixed}

const barWidth = vg.Length(6)

// draw draws ns per operation on one goroutine, a group of three bars to a row.
func (t *table) draw(path string) error {
	p := figures.New(fmt.Sprintf("ns per operation: n = %s, p = %s, one goroutine", figures.Grouped(t.n), figures.Percent(t.p)))
	p.X.Label.Text = "ns per operation"
	p.Add(figures.Verticals())
	last, largest := len(t.rows)-1, 0.0
	for _, c := range colours {
		for i, op := range shownOps {
			mine, at, texts := make(plotter.Values, len(t.rows)), plotter.XYs{}, []string{}
			for j, s := range t.rows {
				if m := median(s.one[op]); c.member(s.peer) && !math.IsNaN(m) {
					mine[last-j], largest = m, max(largest, m)
					at, texts = append(at, plotter.XY{X: m, Y: float64(last - j)}), append(texts, fmt.Sprintf("%.3g", m))
				}
			}
			if len(at) == 0 {
				continue
			}
			bars, err := plotter.NewBarChart(mine, barWidth)
			if err != nil {
				return err
			}
			bars.Horizontal, bars.Offset, bars.Color = true, barWidth*vg.Length(1-i), c.shades[i]
			bars.LineStyle.Width = 0
			values, err := figures.Labels(at, texts, 6.5, vg.Point{X: 3, Y: bars.Offset}, figures.Ink)
			if err != nil {
				return err
			}
			p.Add(bars, values)
			p.Legend.Add(c.name+", "+opNames[op], bars)
		}
	}
	p.X.Min, p.X.Max = -largest*0.05, largest*1.06
	var names plot.ConstantTicks
	for j, s := range t.rows {
		names = append(names, plot.Tick{Value: float64(last - j), Label: s.peer.Name})
	}
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = -0.7, float64(last)+0.7, names, 0, 0
	for _, mark := range []struct {
		safe  filters.Safety
		text  string
		shape draw.GlyphDrawer
	}{
		{filters.Full, "safe for concurrent use", draw.CircleGlyph{}},
		{filters.Readers, "safe for readers only", draw.RingGlyph{}},
	} {
		var at plotter.XYs
		for j, s := range t.rows {
			if s.peer.Safe == mark.safe && !s.peer.Floor {
				at = append(at, plotter.XY{X: -largest * 0.022, Y: float64(last - j)})
			}
		}
		if len(at) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: figures.Ink, Radius: 3, Shape: mark.shape}
		p.Add(marks)
		p.Legend.Add(mark.text, marks)
	}
	p.Legend.Top = true // where the short bars are
	return figures.SaveSVG(760, (3*barWidth+8)*vg.Length(len(t.rows))+80, path, p)
}
