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
FILE may be - for standard input.`

func newInfo(e *env) *cobra.Command {
	var key secret
	var asJSON bool
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
				if asJSON {
					err = json.NewEncoder(e.stdout).Encode(struct {
						File   string `json:"file"`
						Format string `json:"format"`
						bloom.Stats
						OverP bool `json:"over_p"`
					}{name, format.name, f.Stats(), overP(f.Stats())})
				} else {
					if i > 0 {
						fmt.Fprintln(e.stdout)
					}
					err = printInfo(e.stdout, name, format, f.Stats())
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	key.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "an object of JSON a line, for programs")
	return cmd
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
