package main

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Ours is blue, the floor green, a broken promise red and everyone else grey; the
// three operations are three shades of each.
var (
	ink       = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint     = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
	broken    = color.RGBA{0xc6, 0x28, 0x28, 0xff}
	oursShade = shades{{0x0b, 0x3c, 0x7d, 0xff}, {0x2b, 0x7b, 0xc4, 0xff}, {0x93, 0xc4, 0xe9, 0xff}}
	peerShade = shades{{0x4a, 0x4a, 0x4a, 0xff}, {0x8c, 0x8c, 0x8c, 0xff}, {0xc9, 0xc9, 0xc9, 0xff}}
	lineShade = shades{{0x1b, 0x6e, 0x3c, 0xff}, {0x45, 0xa8, 0x6b, 0xff}, {0xa6, 0xd9, 0xb7, 0xff}}
)

// shades are those of the operations that plots show.
type shades [3]color.RGBA

var shownOps = [3]int{opAdd, opHit, opMiss}

func shadesOf(p *peerInfo) shades {
	switch {
	case p.Ours:
		return oursShade
	case p.Floor:
		return lineShade
	}
	return peerShade
}

// newPlot returns an empty plot in our fonts.
func newPlot(title string) *plot.Plot {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 13
	p.Title.Padding = vg.Points(8)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size = 9
		axis.Label.Padding = vg.Points(6)
		axis.Tick.Label.Font.Size = 9
		axis.Color, axis.Tick.Color = ink, ink
	}
	p.Legend.TextStyle.Font.Size = 9
	p.Legend.Padding = vg.Points(2)
	p.Legend.ThumbnailWidth = vg.Points(14)
	return p
}

// verticals are the lines that help to read a value off a horizontal axis.
func verticals() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Width = 0
	g.Vertical.Color, g.Vertical.Width = faint, vg.Points(0.7)
	return g
}

// labels makes texts beside points.
func labels(at plotter.XYs, texts []string, size vg.Length, offset vg.Point, col color.Color) (*plotter.Labels, error) {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: texts})
	if err != nil {
		return nil, err
	}
	l.Offset = offset
	for i := range l.TextStyle {
		l.TextStyle[i].Font.Size = size
		l.TextStyle[i].Color = col
		l.TextStyle[i].YAlign = draw.YCenter
	}
	return l, nil
}

// saveSVG writes a plot, with a margin. The file names the font that its texts
// were measured in, which a reader may not have, and so two more of the same
// widths.
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

// drawPlots makes all plots of a report and returns their files.
func drawPlots(r *report, dir string) (files []string, err error) {
	for _, at := range r.settings() {
		for _, parallel := range []bool{false, true} {
			cores := map[bool]string{false: "one", true: "all"}[parallel]
			path := filepath.Join(dir, fmt.Sprintf("ns-n%d-p%g-%s.svg", at.n, at.p, cores))
			drawn, err := drawBars(r, at, parallel, path)
			if err != nil {
				return files, err
			}
			if drawn {
				files = append(files, path)
			}
		}
	}
	path := filepath.Join(dir, "rate.svg")
	if err := drawRates(r, path); err != nil {
		return files, err
	}
	files = append(files, path)
	more, err := drawSizes(r, dir)
	return append(files, more...), err
}
