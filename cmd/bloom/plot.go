package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/guptarohit/asciigraph"
	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const plotHelp = `Draws how the false-positive rate of a filter for -n keys at rate -p rises with the number
of keys that are in it, up to twice as many as planned. The rate is the exact one for the
strategy.`

func newPlot(e *env) *cobra.Command {
	var pl plan
	cmd := &cobra.Command{
		Use:               "plot -n KEYS [-p RATE]",
		Short:             "draw the rate against the number of keys",
		Long:              plotHelp,
		Example:           "  bloom plot -n 1e6 -p 0.001\n  bloom plot -n 1e6 -p 0.001 -s blocked",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scheme, err := bloom.NewScheme(uint64(pl.n), float64(pl.p), bloom.WithStrategy(pl.strategy.Strategy))
			if err != nil {
				return err
			}
			return plotRate(e.stdout, scheme)
		},
	}
	pl.flags(cmd, 0.01, bloom.DoubleHashing)
	if err := cmd.MarkFlagRequired("number"); err != nil {
		panic(err)
	}
	return cmd
}

// decades is how far below p a drawing begins: the rates of the first few keys are lower
// by so much that they would take most of it.
const decades = 3

// plotRate draws with characters, on a logarithmic scale.
func plotRate(w io.Writer, s bloom.Scheme) error {
	width, height := 60, 15
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			width = min(max(columns-14, 20), 120)
		}
	}
	p := s.Params()
	rates, promise := make([]float64, width+1), make([]float64, width+1)
	for i := range rates {
		n := uint64(math.Round(2 * float64(p.N) * float64(i) / float64(width)))
		promise[i] = math.Log10(p.P)
		if rates[i] = math.Log10(s.Strategy().FalsePositiveRate(p.M, p.K, n)); rates[i] < promise[i]-decades {
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
	_, err := fmt.Fprintf(w, "%s, made for %s keys at %v: %s, k = %d\nfalse-positive rate against keys in the filter; the level line is the promise\n\n%s\n",
		s.Strategy(), grouped(p.N), p.P, size(s.SizeBytes()), p.K, graph)
	return err
}
