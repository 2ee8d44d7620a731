package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/scalable"
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
				if _, list := f.(*parquetFile); !list || column != "" {
					if f, _, err = pickColumn(f, format, name, column); err != nil {
						return err
					}
				}
				d := describe(name, format, f)
				if asJSON {
					err = json.NewEncoder(e.stdout).Encode(d)
				} else {
					if i > 0 {
						fmt.Fprintln(e.stdout)
					}
					err = d.print(e.stdout)
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

// A description is what is said of a file.
type description struct {
	File   string `json:"file"`
	Format string `json:"format"`
	*bloom.Stats
	OverP     *bool    `json:"over_p,omitempty"`
	Layers    int      `json:"layers,omitempty"`    // of one that consists of several filters
	Expansion *uint32  `json:"expansion,omitempty"` // of RedisBloom's
	Columns   []column `json:"columns,omitzero"`    // of a Parquet file

	format *format
	others bool // the rate is only for keys that it was not made of
}

func describe(name string, from *format, f any) *description {
	d := &description{File: name, Format: from.name, format: from}
	if file, ok := f.(*parquetFile); ok {
		d.Columns = file.list()
		return d
	}
	s := f.(interface{ Stats() bloom.Stats }).Stats()
	over := overP(s)
	d.Stats, d.OverP = &s, &over
	switch f := f.(type) {
	case *scalable.Filter:
		d.Layers = len(f.Layers())
	case *cascade.Cascade:
		d.Layers, d.others = len(f.Levels()), true
	case *rebloom.Filter:
		d.Layers, d.Expansion = len(f.Layers()), new(f.Plan().Expansion)
	}
	return d
}

// overP reports whether a filter breaks its promise by more than an estimate's noise.
func overP(s bloom.Stats) bool { return s.Load() > overload }

func (d *description) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, text string, args ...any) { fmt.Fprintf(t, "  %s\t%s\n", label, fmt.Sprintf(text, args...)) }
	fmt.Fprintln(t, shown(d.File))
	row("format", "%s: %s", d.format.name, d.format.about)
	s := d.Stats
	if s == nil {
		label := "columns"
		for _, c := range d.Columns {
			row(label, "%s", c)
			label = ""
		}
		if len(d.Columns) == 0 {
			row(label, "none has a filter")
		}
		return t.Flush()
	}
	if s.N == 0 {
		row("made for", "unknown: the file does not say")
	} else {
		row("made for", "%s keys at a rate of %v", grouped(s.N), s.P)
	}
	if d.Layers > 0 {
		row("layers", "%d", d.Layers)
	}
	if d.Expansion != nil && *d.Expansion == 0 {
		row("grows", "no")
	} else if d.Expansion != nil {
		row("grows", "each layer is for %d times as many keys as the one before", *d.Expansion)
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
	switch {
	case d.others:
		row("rate now", "%s, and 0 for the keys of the two lists that it was made of", showRate(s.EstimatedFalsePositiveRate))
	default:
		row("rate now", "%s", showRate(s.EstimatedFalsePositiveRate))
	}
	if overP(*s) {
		row("", "above the promise of %v: too many keys; build a larger one", s.P)
	}
	return t.Flush()
}
