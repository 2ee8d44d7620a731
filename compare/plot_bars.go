package main

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom/compare/internal/figures"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	barWidth  = vg.Length(6)
	rowHeight = vg.Length(3*barWidth + 8)
)

// drawBars draws ns per operation, a group of three bars to a peer, the fastest
// hit on top. It reports whether there was anything to draw.
func drawBars(r *report, at setting, parallel bool, path string) (bool, error) {
	rows := r.rows(r.at(at), parallel)
	if len(rows) == 0 {
		return false, nil
	}
	cores := "one goroutine"
	if parallel {
		cores = fmt.Sprintf("%d goroutines on %d cores", r.Machine.Cores, r.Machine.Cores)
	}
	p := figures.New(fmt.Sprintf("ns per operation: n = %s, p = %s, %s", figures.Grouped(at.n), figures.Percent(at.p), cores))
	p.X.Label.Text = "ns per operation"
	p.Add(figures.Verticals())

	var values [len(shownOps)]plotter.Values
	largest := 0.0
	for i, op := range shownOps {
		values[i] = make(plotter.Values, len(rows))
		for j, at := range rows {
			if m := median(at.s.samples(parallel)[op]); !math.IsNaN(m) {
				values[i][len(rows)-1-j] = m
				largest = max(largest, m)
			}
		}
	}
	for _, c := range colours {
		if err := addBars(p, rows, values, c); err != nil {
			return false, err
		}
	}
	for i := range shownOps {
		if err := addValues(p, values[i], barOffset(i)); err != nil {
			return false, err
		}
	}
	p.X.Min, p.X.Max = -largest*0.025, largest*1.06
	p.X.Tick.Marker = nsTicks{}
	if err := addSafety(p, rows, -largest*0.013); err != nil {
		return false, err
	}
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	p.Y.Tick.Marker = rowNames(rows)
	p.Y.Tick.Length, p.Y.Width = 0, 0
	p.Legend.Top = true // where the short bars are
	return true, figures.SaveSVG(760, rowHeight*vg.Length(len(rows))+80, path, p)
}

// barOffset is where in its row the bar of the i-th operation lies.
func barOffset(i int) vg.Length { return barWidth * vg.Length(1-i) }

// A colour is that of some of the rows.
type colour struct {
	name   string
	member func(*peerInfo) bool
	shades shades
}

var colours = []colour{
	{"ours", func(i *peerInfo) bool { return i.Ours }, oursShade},
	{"others", func(i *peerInfo) bool { return !i.Ours && !i.Floor }, peerShade},
	{"floor", func(i *peerInfo) bool { return i.Floor }, lineShade},
}

// addBars adds the bars of one colour.
func addBars(p *plot.Plot, rows []row, values [len(shownOps)]plotter.Values, c colour) error {
	for i, op := range shownOps {
		mine, any := make(plotter.Values, len(rows)), false
		for j, at := range rows {
			if k := len(rows) - 1 - j; c.member(at.info) && values[i][k] > 0 {
				mine[k], any = values[i][k], true
			}
		}
		if !any {
			continue
		}
		bars, err := plotter.NewBarChart(mine, barWidth)
		if err != nil {
			return err
		}
		bars.Horizontal, bars.Offset, bars.Color = true, barOffset(i), c.shades[i]
		bars.LineStyle.Width = 0
		p.Add(bars)
		p.Legend.Add(c.name+", "+opNames[op], bars)
	}
	return nil
}

// addValues writes the bars' values beside them.
func addValues(p *plot.Plot, values plotter.Values, offset vg.Length) error {
	var at plotter.XYs
	var texts []string
	for j, v := range values {
		if v > 0 {
			at = append(at, plotter.XY{X: v, Y: float64(j)})
			texts = append(texts, short(v))
		}
	}
	if len(at) == 0 {
		return nil
	}
	l, err := figures.Labels(at, texts, 6.5, vg.Point{X: 3, Y: offset}, figures.Ink)
	if err != nil {
		return err
	}
	p.Add(l)
	return nil
}

// short writes a time with the digits that mean something.
func short(ns float64) string {
	if ns < 100 {
		return fmt.Sprintf("%.1f", ns)
	}
	return fmt.Sprintf("%.0f", ns)
}

// rowNames puts the peers' names on the axis, the first on top.
func rowNames(rows []row) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for j, at := range rows {
		ticks = append(ticks, plot.Tick{Value: float64(len(rows) - 1 - j), Label: at.info.Name})
	}
	return ticks
}

// addSafety puts a mark between a peer's name and its bars: full if it is safe for
// concurrent use, a ring if only readers are.
func addSafety(p *plot.Plot, rows []row, x float64) error {
	for _, mark := range []struct {
		safe  safety
		text  string
		shape draw.GlyphDrawer
	}{
		{safeFull, "safe for concurrent use", draw.CircleGlyph{}},
		{safeReaders, "safe for readers only", draw.RingGlyph{}},
	} {
		var at plotter.XYs
		for j, r := range rows {
			if r.info.Safe == mark.safe.String() && !r.info.Floor {
				at = append(at, plotter.XY{X: x, Y: float64(len(rows) - 1 - j)})
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
	return nil
}

// nsTicks marks an axis at round numbers, and not below 0, where the marks are.
type nsTicks struct{}

func (nsTicks) Ticks(_, high float64) (ticks []plot.Tick) {
	step := 1.0
	for i := 0; high/step > 12; i++ {
		step *= [...]float64{2, 2.5, 2}[i%3]
	}
	for v := 0.0; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.4g", v)})
	}
	return ticks
}
