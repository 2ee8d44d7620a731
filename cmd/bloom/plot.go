package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/guptarohit/asciigraph"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

const plotHelp = `Draws how the false-positive rate of a filter for -n keys at rate -p rises with the number
of keys that are in it, up to twice as many as planned: in the terminal, or with -o as an
SVG or PNG picture. The rate is the exact one for the strategy.`

func newPlot(e *env) *cobra.Command {
	var pl plan
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:               "plot -n KEYS [-p RATE] [-o FILE.svg|FILE.png]",
		Short:             "draw the rate against the number of keys",
		Long:              plotHelp,
		Example:           "  bloom plot -n 1e6 -p 0.001\n  bloom plot -n 1e6 -p 0.001 -s blocked -o rate.svg",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scheme, err := bloom.NewScheme(uint64(pl.n), float64(pl.p), bloom.WithStrategy(pl.strategy.Strategy))
			if err != nil {
				return err
			}
			if out == "" {
				return plotText(e.stdout, scheme)
			}
			kind := strings.ToLower(strings.TrimPrefix(filepath.Ext(out), "."))
			if kind != "svg" && kind != "png" {
				return fmt.Errorf("%s: want a name that ends in .svg or .png", out)
			}
			if err := checkNew(out, force); err != nil {
				return err
			}
			return plotFile(out, kind, scheme)
		},
	}
	pl.flags(cmd, 0.01, bloom.DoubleHashing)
	cmd.Flags().StringVarP(&out, "output", "o", "", "picture `file` to write, .svg or .png")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "replace the file if it exists")
	if err := cmd.MarkFlagRequired("number"); err != nil {
		panic(err)
	}
	return cmd
}

// curve returns the rate at points+1 equal steps from 0 to twice n keys.
func curve(s bloom.Scheme, points int) plotter.XYs {
	p := s.Params()
	xys := make(plotter.XYs, points+1)
	for i := range xys {
		n := uint64(math.Round(2 * float64(p.N) * float64(i) / float64(points)))
		xys[i] = plotter.XY{X: float64(n), Y: s.Strategy().FalsePositiveRate(p.M, p.K, n)}
	}
	return xys
}

// title says which filter is drawn.
func title(s bloom.Scheme) string {
	p := s.Params()
	return fmt.Sprintf("%s, made for %s keys at %v: %s, k = %d", s.Strategy(), grouped(p.N), p.P, size(s.SizeBytes()), p.K)
}

// decades is how far below p a drawing begins: the rates of the first few keys are lower
// by so much that they would take most of it.
const decades = 3

// plotText draws with characters, on a logarithmic scale.
func plotText(w io.Writer, s bloom.Scheme) error {
	width, height := 60, 15
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			width = min(max(columns-14, 20), 120)
		}
	}
	p := s.Params()
	points := curve(s, width)
	rates, promise := make([]float64, width+1), make([]float64, width+1)
	for i, at := range points {
		promise[i] = math.Log10(p.P)
		if rates[i] = math.Log10(at.Y); rates[i] < promise[i]-decades {
			rates[i] = math.NaN() // not drawn
		}
	}
	graph := asciigraph.PlotMany([][]float64{promise, rates},
		asciigraph.Height(height),
		asciigraph.YAxisValueFormatter(func(y float64) string { return fmt.Sprintf("%8.2g", math.Pow(10, y)) }),
		asciigraph.XAxisRange(0, 2*float64(p.N)),
		asciigraph.XAxisTickCount(5),
		asciigraph.XAxisValueFormatter(func(x float64) string { return compact(int64(x)) }),
	)
	_, err := fmt.Fprintf(w, "%s\nfalse-positive rate against keys in the filter; the level line is the promise\n\n%s\n", title(s), graph)
	return err
}

var (
	ink  = color.RGBA{0x22, 0x22, 0x22, 0xff}
	line = color.RGBA{0x2b, 0x7b, 0xc4, 0xff}
	mark = color.RGBA{0xc6, 0x28, 0x28, 0xff}
)

// plotFile draws a picture, on a logarithmic scale.
func plotFile(path, kind string, s bloom.Scheme) error {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
	params := s.Params()
	p := plot.New()
	p.Title.Text = title(s)
	p.Title.TextStyle.Font.Size = 13
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = "different keys in the filter", "false-positive rate"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.X.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = compact(int64(ticks[i].Value))
			}
		}
		return ticks
	})
	p.Add(plotter.NewGrid())

	points := curve(s, 400)[1:]
	floor := params.P / math.Pow(10, decades)
	for len(points) > 1 && points[0].Y < floor {
		points = points[1:]
	}
	rate, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	rate.Color, rate.Width = line, vg.Points(2)
	promise, err := plotter.NewLine(plotter.XYs{{X: 0, Y: params.P}, {X: float64(params.N), Y: params.P}, {X: float64(params.N), Y: points[0].Y}})
	if err != nil {
		return err
	}
	promise.Color, promise.Width, promise.Dashes = mark, vg.Points(1), []vg.Length{4, 3}
	p.Add(rate, promise)
	p.Legend.Add("rate", rate)
	p.Legend.Add("the promise: -p at -n keys", promise)
	p.Legend.Left, p.Legend.Top = true, true
	p.X.Min = 0
	p.X.Color, p.Y.Color = ink, ink

	picture, err := p.WriterTo(640, 400, kind)
	if err != nil {
		return err
	}
	return persist.Save(path, picture)
}
