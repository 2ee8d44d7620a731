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

const infoHelp = `Prints what each filter was made for, its fill, the number of its keys and its
false-positive rate now. Number and rate are estimated from the bits, to a
percent or so for filters of some thousand keys. For a Parquet file it lists
the columns with a filter.

A file that cannot be read is reported, and the others are described.`

func newInfo(e *env) *cobra.Command {
	var key secret
	var asJSON bool
	var column string
	cmd := &cobra.Command{
		Use:     "info FILE ...",
		Short:   "describe filters: plan, fill, number of keys, rate now",
		Long:    infoHelp,
		Example: "  bloom info seen.bloom\n  bloom info --json *.bloom | jq .estimated_count",
		Args:    wantArgs(1, 0, "the FILE of a filter"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := wantOnce(files); err != nil {
				return err
			}
			var failed error
			printed := 0
			for _, name := range files {
				d, err := describeFile(e, name, &key, column)
				if err != nil && len(files) > 1 && e.ctx.Err() == nil {
					io.WriteString(e.stderr, message(err))
					failed = errSaid
					continue
				}
				if err != nil {
					return err
				}
				if asJSON {
					err = json.NewEncoder(e.stdout).Encode(d)
				} else {
					if printed++; printed > 1 {
						fmt.Fprintln(e.stdout)
					}
					err = d.print(e.stdout)
				}
				if err != nil {
					return err
				}
			}
			return failed
		},
	}
	key.flags(cmd)
	columnFlag(cmd, &column)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per line")
	return cmd
}

func describeFile(e *env, name string, key *secret, column string) (*description, error) {
	f, format, err := open(e, name, key)
	if err != nil {
		return nil, err
	}
	if _, list := f.(*parquetFile); !list || column != "" {
		if f, _, err = pickColumn(f, format, name, column); err != nil {
			return nil, err
		}
	}
	return describe(name, format, f), nil
}

// A description is the output for one file.
type description struct {
	File   string `json:"file"`
	Format string `json:"format"`
	*bloom.Stats
	OverP     *bool    `json:"over_p,omitempty"`
	Layers    int      `json:"layers,omitempty"`    // of a filter of several
	Expansion *uint32  `json:"expansion,omitempty"` // of RedisBloom's
	Columns   []column `json:"columns,omitzero"`    // of a Parquet file

	format *format
	exact  bool // for two lists of keys: the rate is that of other keys
}

func describe(name string, from *format, f any) *description {
	d := &description{File: name, Format: from.name, format: from}
	if file, ok := f.(*parquetFile); ok {
		d.Columns = file.list()
		return d
	}
	s := f.(filter).Stats()
	over := overP(s)
	d.Stats, d.OverP = &s, &over
	switch f := f.(type) {
	case *scalable.Filter:
		d.Layers = len(f.Layers())
	case *cascade.Cascade:
		d.Layers, d.exact = len(f.Levels()), true
	case *rebloom.Filter:
		d.Layers, d.Expansion = len(f.Layers()), new(f.Plan().Expansion)
	}
	return d
}

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
		row("grows", "each layer holds %d times as many keys as the one before", *d.Expansion)
	}
	row("strategy", "%s, k = %d bits per key", s.Strategy, s.K)
	row("hash", "%s", s.Hash)
	row("size", "%s bits, %s", grouped(s.M), size(s.SizeBytes))
	row("fill", "%.1f %% of the bits are set", 100*s.FillRatio)
	if s.N == 0 || math.IsInf(s.Load(), 1) {
		row("holds", "%s", holds(s.EstimatedCount))
	} else {
		row("holds", "%s, %.1f %% of the plan", holds(s.EstimatedCount), 100*s.Load())
	}
	if d.exact {
		row("rate now", "%s, and 0 for the keys of its two lists", showRate(s.EstimatedFalsePositiveRate))
	} else {
		row("rate now", "%s", showRate(s.EstimatedFalsePositiveRate))
	}
	if overP(*s) {
		row("", "above the planned %v: too many keys; build a larger filter", s.P)
	}
	return t.Flush()
}
