package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const sizeHelp = `Prints the filter that -n keys at rate -p need, per strategy, and the memory
for other rates. The figures are exact, not the textbook's approximation.

double-hashing is the smallest. blocked keeps a key in one cache line: somewhat
larger and faster. split-block is the fastest, for rates down to 0.1% or so.
seeded-hashing computes k hashes per key and is slow.`

func newSize(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:               "size -n KEYS [-p RATE]",
		Short:             "compute the size of a filter, and of filters with other rates",
		Long:              sizeHelp,
		Example:           "  bloom size -n 1M -p 0.1%\n  bloom size -n 50_000_000 -p 1% --json",
		Args:              wantArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
	}, "number! rate strategy json", (*options).sizes)
}

func (o *options) sizes([]string) error {
	chosen := strategies[:len(strategies)-len(foreign)]
	if o.given("strategy") {
		chosen = []bloom.Strategy{o.strategy.value}
	}
	sizes, err := sizesOf(uint64(o.n), float64(o.p), chosen)
	if err != nil {
		return err
	}
	if o.asJSON {
		return json.NewEncoder(o.stdout).Encode(sizes)
	}
	return printSizes(o.stdout, sizes)
}

// A sizing is the filter that one strategy needs.
type sizing struct {
	Strategy   string  `json:"strategy"`
	N          uint64  `json:"n"`
	P          float64 `json:"p"`
	M          uint64  `json:"m"`
	K          int     `json:"k"`
	Bytes      uint64  `json:"bytes"`
	BitsPerKey float64 `json:"bits_per_key"`
	Rate       float64 `json:"rate"` // at n keys

	chosen bloom.Strategy
}

// sizesOf returns the sizings of the strategies that can have this p, or an error if none can.
func sizesOf(n uint64, p float64, chosen []bloom.Strategy) (sizes []sizing, err error) {
	for _, s := range chosen {
		scheme, failed := bloom.NewScheme(n, p, bloom.WithStrategy(s))
		if failed != nil {
			err = failed
			continue
		}
		params := scheme.Params()
		sizes = append(sizes, sizing{
			Strategy: scheme.Strategy().Name(),
			N:        n, P: p, M: params.M, K: params.K,
			Bytes:      scheme.SizeBytes(),
			BitsPerKey: float64(params.M) / float64(n),
			Rate:       scheme.Strategy().FalsePositiveRate(params.M, params.K, n),
			chosen:     s,
		})
	}
	if len(sizes) > 0 {
		err = nil
	}
	return sizes, err
}

func printSizes(w io.Writer, sizes []sizing) error {
	n := sizes[0].N
	fmt.Fprintf(w, "%s keys at a false-positive rate of at most %v:\n\n", grouped(n), sizes[0].P)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tbits per key\tk\tbits\tsize\trate\t")
	for _, s := range sizes {
		fmt.Fprintf(t, "%s\t%.2f\t%d\t%s\t%s\t%s\t\n", s.Strategy, s.BitsPerKey, s.K, grouped(s.M), size(s.Bytes), fmt.Sprintf("%.3g", s.Rate))
	}
	t.Flush()

	fmt.Fprintf(w, "\nOther rates:\n\n")
	t = tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "rate\t")
	for _, s := range sizes {
		fmt.Fprintf(t, "%s\t", s.chosen.Name())
	}
	fmt.Fprintln(t)
	for _, p := range []float64{0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9} {
		fmt.Fprintf(t, "%v\t", p)
		for _, s := range sizes {
			if scheme, err := bloom.NewScheme(n, p, bloom.WithStrategy(s.chosen)); err == nil {
				fmt.Fprintf(t, "%s\t", size(scheme.SizeBytes()))
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
