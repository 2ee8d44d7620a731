package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/internal/sizing"
	"github.com/spf13/cobra"
)

const sizeHelp = `Prints the filter that -n keys at rate -p (0.01) need, per strategy. With -m, it
prints the rate that -n keys have in this memory, or without -n how many keys it
holds at rate -p. The figures are exact, not the textbook's approximation.

double-hashing is the smallest. blocked keeps a key in one cache line: somewhat
larger and faster. split-block is the fastest, for rates down to 0.1% or so.
seeded-hashing computes k hashes per key and is slow.`

// A size has the flags of the command bloom size.
type size struct {
	*command
	m uint64 // of --memory, in bytes
}

func newSize(e *env) *cobra.Command {
	o := &size{command: newCommand(e, &cobra.Command{
		Use:               "size -n KEYS [-p RATE] | -m SIZE {-n KEYS | -p RATE}",
		Short:             "compute the size of a filter, or what a size is enough for",
		Long:              sizeHelp,
		Example:           "  bloom size -n 1M -p 0.1%\n  bloom size -m 1GiB -n 100M\n  bloom size -n 50_000_000 -p 1% --json",
		Args:              arguments(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
	}, "number rate strategy json")}
	o.p = 0.01
	flag(o.cmd.Flags(), &o.m, memory, "memory", "m", "`SIZE` of the filter, such as 1GiB")
	return o.runs(o.run)
}

// A sized is one row of the output: the filter of one strategy.
type sized struct {
	Strategy   string  `json:"strategy"`
	N          uint64  `json:"n"`
	P          float64 `json:"p"`
	M          uint64  `json:"m"`
	K          int     `json:"k"`
	Bytes      uint64  `json:"bytes"`
	BitsPerKey float64 `json:"bits_per_key"`
	Rate       float64 `json:"rate"` // at n keys
}

// run prints a row for each chosen strategy that has a filter for the given -n, -p and -m. If none has one, it returns
// the last strategy's error.
func (o *size) run([]string) (err error) {
	switch {
	case o.n == 0 && o.m == 0:
		return errors.New("no -n and no -m, want the number of keys, the memory, or both")
	case o.n > 0 && o.m > 0 && o.given("rate"):
		return errors.New("-n, -m and -p, want two of them: bloom size computes the third")
	}
	chosen := bloom.Strategies()
	if o.given("strategy") {
		chosen = []bloom.Strategy{o.strategy}
	}
	if o.m > 0 && o.n > 0 {
		o.p = 0
	}
	var all []sized
	for _, s := range chosen {
		scheme, failed := sizing.Solve(s, float64(o.n), o.p, float64(o.m)*8)
		if failed != nil {
			err = failed
			continue
		}
		made := scheme.Params()
		all = append(all, sized{
			Strategy: scheme.Strategy().Name(),
			N:        made.N, P: made.P, M: made.M, K: made.K,
			Bytes:      scheme.SizeBytes(),
			BitsPerKey: float64(made.M) / float64(made.N),
			Rate:       scheme.Strategy().FalsePositiveRate(made.M, made.K, made.N),
		})
	}
	switch {
	case len(all) == 0:
		return err
	case o.asJSON:
		return json.NewEncoder(o.stdout).Encode(all)
	}
	t := tabwriter.NewWriter(o.stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tkeys\tbits per key\tk\tbits\tsize\trate\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%d\t%s\t%s\t%.3g\t\n",
			s.Strategy, grouped(s.N), s.BitsPerKey, s.K, grouped(s.M), humanize.IBytes(s.Bytes), s.Rate)
	}
	return t.Flush()
}
