package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const sizeHelp = `Computes the filter that -n keys at rate -p need, per strategy, and what more or less
memory would do to the rate. The figures are the true ones, which hold for every n, not
the textbook's approximation.

double-hashing needs the least memory. blocked needs some more and is fast: all bits
of a key are in one cache line. split-block is the fastest, and worth its memory down to
0.1 % or so. seeded-hashing hashes a key k times, and is slow.`

func newSize(e *env) *cobra.Command {
	var pl plan
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "size -n KEYS [-p RATE]",
		Short:             "how large a filter must be, and what more or fewer bits would do",
		Long:              sizeHelp,
		Example:           "  bloom size -n 1e6 -p 0.001\n  bloom size -n 50_000_000 -p 1% --json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var chosen []bloom.Strategy
			if cmd.Flags().Changed("strategy") {
				chosen = []bloom.Strategy{pl.strategy.Strategy}
			}
			sizes, err := sizesOf(uint64(pl.n), float64(pl.p), chosen)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(e.stdout).Encode(sizes)
			}
			return printSizes(e.stdout, sizes)
		},
	}
	pl.flags(cmd, 0.01, bloom.DoubleHashing)
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON, for programs")
	if err := cmd.MarkFlagRequired("number"); err != nil {
		panic(err)
	}
	return cmd
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
	Rate       float64 `json:"rate"` // the true one at n keys

	resolved bloom.Strategy
}

// sizesOf computes the sizes for the given strategies, or for those worth a look. One that
// cannot have this p is left out, unless it is the only one.
func sizesOf(n uint64, p float64, chosen []bloom.Strategy) (sizes []sizing, err error) {
	if chosen == nil {
		chosen = []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock, bloom.SeededHashing}
	}
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
			resolved:   scheme.Strategy(),
		})
	}
	if len(sizes) > 0 {
		err = nil
	}
	return sizes, err
}

// shares are the amounts of memory that the second table compares.
var shares = []float64{0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2}

func printSizes(w io.Writer, sizes []sizing) error {
	fmt.Fprintf(w, "%s keys at a false-positive rate of at most %v:\n\n", grouped(sizes[0].N), sizes[0].P)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tbits a key\tk\tbits\tsize\ttrue rate\t")
	for _, s := range sizes {
		fmt.Fprintf(t, "%s\t%.2f\t%d\t%s\t%s\t%s\t\n", s.Strategy, s.BitsPerKey, s.K, grouped(s.M), size(s.Bytes), showRate(s.Rate))
	}
	t.Flush()

	fmt.Fprintf(w, "\nMore or less memory, with the best k for it, and the rate at %s keys:\n\n", grouped(sizes[0].N))
	t = tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "memory\t")
	for _, s := range sizes {
		if s.Strategy != bloom.SeededHashing.Name() || len(sizes) == 1 { // as double-hashing
			fmt.Fprintf(t, "%s\tk\trate\t", s.Strategy)
		}
	}
	fmt.Fprintln(t)
	for _, share := range shares {
		fmt.Fprintf(t, "%.0f %%\t", 100*share)
		for _, s := range sizes {
			if s.Strategy == bloom.SeededHashing.Name() && len(sizes) > 1 {
				continue
			}
			m, k, rate := bestAt(s, share)
			fmt.Fprintf(t, "%s\t%d\t%s\t", size(m/8), k, showRate(rate))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// bestAt returns the k of the lowest rate for a share of a filter's bits.
func bestAt(s sizing, share float64) (m uint64, k int, rate float64) {
	step, most, unit := 1, 64, uint64(64) // what k is a multiple of, and its most; what m is a multiple of
	switch s.resolved.Name() {
	case bloom.Blocked1.Name():
		unit = 512
	case bloom.Blocked2.Name():
		step, unit = 2, 512
	case bloom.Blocked4.Name():
		step, unit = 4, 512
	case bloom.Blocked8.Name():
		step, unit = 8, 512
	case bloom.SplitBlock.Name():
		step, most, unit = 8, 8, 256
	}
	m = max(1, uint64(math.Round(float64(s.M)*share/float64(unit)))) * unit
	rate = 2
	for c := step; c <= most; c += step {
		r := s.resolved.FalsePositiveRate(m, c, s.N)
		if r >= rate { // it falls with k, then rises
			break
		}
		k, rate = c, r
	}
	return m, k, rate
}
