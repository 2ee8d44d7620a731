// Package figures is how plots and numbers look in all reports of this module.
package figures

import (
	"bytes"
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Ink is the colour of lines and text, Faint of what helps to read them off.
var (
	Ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	Faint = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
)

// New returns an empty plot in our fonts.
func New(title string) *plot.Plot {
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
		axis.Color, axis.Tick.Color = Ink, Ink
	}
	p.Legend.TextStyle.Font.Size = 9
	p.Legend.Padding = vg.Points(2)
	p.Legend.ThumbnailWidth = vg.Points(14)
	return p
}

// Verticals are the lines that help to read a value off a horizontal axis.
func Verticals() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Width = 0
	g.Vertical.Color, g.Vertical.Width = Faint, vg.Points(0.7)
	return g
}

// Labels makes texts beside points.
func Labels(at plotter.XYs, texts []string, size vg.Length, offset vg.Point, col color.Color) (*plotter.Labels, error) {
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

// SaveSVG writes a plot with a margin. The file names the font that its texts were measured
// in, which a reader may not have, and so two more of the same widths.
func SaveSVG(width, height vg.Length, path string, p *plot.Plot) error {
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

// Percent writes a rate with three digits.
func Percent(rate float64) string { return fmt.Sprintf("%.3g %%", rate*100) }

// Grouped writes a number with spaces that do not break between its thousands.
func Grouped(n uint64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return digits
}
