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

const infoHelp = `Says of each filter what it was made for, how full it is, about how many different keys
it holds and what its false-positive rate is now. The count and the rate are estimates
from the bits, good to a percent or so for filters of more than some thousand keys. One
FILE may be - for standard input. Of a Parquet file it lists the columns that have a filter.

` + columnHelp

func newInfo(e *env) *cobra.Command {
	var key secret
	var asJSON bool
	var column string
	cmd := &cobra.Command{
		Use:     "info FILE ...",
		Short:   "say what filters were made for, how full they are and their rate now",
		Long:    infoHelp,
		Example: "  bloom info seen.bloom\n  bloom info --json *.bloom | jq .estimated_count",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := wantOnce(files); err != nil {
				return err
			}
			for i, name := range files {
				f, format, err := open(e, name, &key)
				if err != nil {
					return err
				}
				s, plain := f.(interface{ Stats() bloom.Stats })
				if file, ok := f.(*parquetFile); ok && column != "" {
					c, err := file.pick(column)
					if err != nil {
						return err
					}
					if s, err = file.filter(c, nil); err != nil {
						return err
					}
					plain = true
				} else if !ok {
					if err := errColumn(name, column, format); err != nil {
						return err
					}
				}
				if !asJSON && i > 0 {
					fmt.Fprintln(e.stdout)
				}
				if !plain {
					err = printDescribed(e.stdout, name, format, f.(described), asJSON)
				} else if asJSON {
					err = json.NewEncoder(e.stdout).Encode(struct {
						File   string `json:"file"`
						Format string `json:"format"`
						bloom.Stats
						OverP bool `json:"over_p"`
					}{name, format.name, s.Stats(), overP(s.Stats())})
				} else {
					err = printInfo(e.stdout, name, format, s.Stats())
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	key.flags(cmd)
	columnFlag(cmd, &column)
	cmd.Flags().BoolVar(&asJSON, "json", false, "an object of JSON a line, for programs")
	return cmd
}

// printDescribed is printInfo for what has no Stats.
func printDescribed(w io.Writer, name string, format *format, d described, asJSON bool) error {
	if asJSON {
		fields := d.fields()
		fields["file"], fields["format"] = name, format.name
		return json.NewEncoder(w).Encode(fields)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, shown(name))
	fmt.Fprintf(t, "  format\t%s: %s\n", format.name, format.about)
	for _, row := range d.rows() {
		fmt.Fprintf(t, "  %s\t%s\n", row[0], row[1])
	}
	return t.Flush()
}

// overP reports whether a filter breaks its promise by more than an estimate's noise.
func overP(s bloom.Stats) bool { return s.Load() > overload }

func printInfo(w io.Writer, name string, format *format, s bloom.Stats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, text string, args ...any) { fmt.Fprintf(t, "  %s\t%s\n", label, fmt.Sprintf(text, args...)) }
	fmt.Fprintln(t, shown(name))
	row("format", "%s: %s", format.name, format.about)
	switch {
	case s.N == 0:
		row("made for", "unknown: the file does not say")
	default:
		row("made for", "%s keys at a rate of %v", grouped(s.N), s.P)
	}
	row("strategy", "%s, k = %d bits a key", s.Strategy, s.K)
	row("hash", "%s", s.Hash)
	row("size", "%s bits, %s", grouped(s.M), size(s.SizeBytes))
	row("fill", "%.1f %% of the bits are set", 100*s.FillRatio)
	if s.N == 0 || math.IsInf(s.Load(), 1) {
		row("holds", "%s", holds(s.EstimatedCount))
	} else {
		row("holds", "%s, %.1f %% of those planned", holds(s.EstimatedCount), 100*s.Load())
	}
	row("rate now", "%s", showRate(s.EstimatedFalsePositiveRate))
	if overP(s) {
		row("", "above the promise of %v: too many keys; build a larger one", s.P)
	}
	return t.Flush()
}
