package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/compare/internal/program"
)

// ink is the colour of text, faint of the lines that help to read off a value.
var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
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
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
	p := plot.New()
	p.Title.Text = fmt.Sprintf("ns per operation: n = %s, p = %s, one goroutine", program.Grouped(t.n), program.Percent(t.p))
	p.Title.TextStyle.Font.Size, p.Title.Padding = 13, 8
	p.X.Label.Text, p.X.Label.TextStyle.Font.Size, p.X.Label.Padding = "ns per operation", 9, 6
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size, p.Legend.TextStyle.Font.Size = 9, 9, 9
	p.X.Color, p.X.Tick.Color, p.Y.Color, p.Y.Tick.Color = ink, ink, ink, ink
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, 2, 14 // where the short bars are
	grid := plotter.NewGrid()
	grid.Horizontal.Width, grid.Vertical.Width, grid.Vertical.Color = 0, 0.7, faint
	p.Add(grid)
	last, largest := len(t.rows)-1, 0.0
	for _, c := range colours {
		for i, op := range shownOps {
			mine, labels := make(plotter.Values, len(t.rows)), plotter.XYLabels{}
			for j, s := range t.rows {
				if m := median(s.one[op]); c.member(s.peer) && !math.IsNaN(m) {
					mine[last-j], largest = m, max(largest, m)
					labels.XYs = append(labels.XYs, plotter.XY{X: m, Y: float64(last - j)})
					labels.Labels = append(labels.Labels, fmt.Sprintf("%.3g", m))
				}
			}
			if len(labels.XYs) == 0 {
				continue
			}
			bars, values := must(plotter.NewBarChart(mine, barWidth)), must(plotter.NewLabels(labels))
			bars.Horizontal, bars.Offset, bars.Color = true, barWidth*vg.Length(1-i), c.shades[i]
			bars.LineStyle.Width = 0
			values.Offset = vg.Point{X: 3, Y: bars.Offset}
			for i := range values.TextStyle {
				style := &values.TextStyle[i]
				style.Font.Size, style.Color, style.YAlign = 6.5, ink, draw.YCenter
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
		marks := must(plotter.NewScatter(at))
		marks.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: 3, Shape: mark.shape}
		p.Add(marks)
		p.Legend.Add(mark.text, marks)
	}
	return saveSVG(p, 760, (3*barWidth+8)*vg.Length(len(t.rows))+80, path)
}

// saveSVG writes a plot with a margin. The file names the font that its texts were measured
// in, which a reader may not have, and so two more of the same widths.
func saveSVG(p *plot.Plot, width, height vg.Length, path string) error {
	const margin = 10
	canvas := vgsvg.New(width, height)
	whole := draw.New(canvas)
	whole.SetColor(color.White) // of the margin: the page below may be dark
	whole.Fill(whole.Rectangle.Path())
	p.Draw(draw.Crop(whole, margin, -margin, margin, -margin))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	data := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, data, 0o644)
}
