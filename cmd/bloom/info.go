package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/spf13/cobra"
)

const infoHelp = `Prints what each filter was made for, its fill, the number of its keys and its
false-positive rate now. Number and rate are estimated from the bits, to a
percent or so for filters of some thousand keys. For a Parquet file it lists
the filters: column, row group, type, size and rate. After a file that cannot be
read it goes on with the next one, and ends with status 2.`

func newInfo(e *env) *cobra.Command {
	o := newCommand(e, &cobra.Command{
		Use:     "info FILE ...",
		Short:   "describe filters: plan, fill, number of keys, rate now",
		Long:    infoHelp,
		Example: "  bloom info seen.bloom\n  bloom info --json *.bloom | jq .estimated_count",
		Args:    arguments(1, -1),
	}, "secret-file column json")
	return o.runs(func(files []string) (failed error) {
		for _, name := range files {
			f, from, err := o.open(name)
			switch {
			case err != nil && context.Cause(e.ctx) == nil:
				_, err = io.WriteString(e.stderr, message(err))
				failed = errSaid
			case err != nil:
			case o.asJSON:
				err = json.NewEncoder(e.stdout).Encode(describe(name, from, f))
			default:
				err = describe(name, from, f).print(e.stdout, from)
			}
			if err != nil {
				return err
			}
		}
		return failed
	})
}

// A description is what bloom info prints for one file.
type description struct {
	File   string `json:"file"`
	Format string `json:"format"`
	*bloom.Stats
	OverP   *bool    `json:"over_p,omitempty"`
	Layers  int      `json:"layers,omitempty"` // number of layers, if the filter has several
	Window  string   `json:"window,omitempty"` // of a rotating filter
	Columns []column `json:"columns,omitzero"` // columns of a Parquet file that have a filter
}

// A column describes the filter of a Parquet column in one row group.
type column struct {
	Name      string   `json:"name"`
	RowGroup  int      `json:"row_group"`
	Type      string   `json:"type"`
	SizeBytes uint64   `json:"size_bytes,omitempty"`
	Rate      *float64 `json:"estimated_false_positive_rate,omitempty"`
	Error     string   `json:"error,omitempty"`
}

func describe(name string, from *filterfile.Format, f any) *description {
	d := &description{File: name, Format: from.Name}
	switch f := f.(type) {
	case filterfile.Columns:
		d.Columns = []column{}
		for _, c := range f.List {
			plain, err := f.Filter(c)
			d.Columns = append(d.Columns, describeColumn(c, plain, err))
			if len(f.List) == 1 && err == nil {
				d.describe(plain.Stats())
			}
		}
		return d
	case *rotating.Filter:
		d.Window = f.Window().String()
	case *scalable.Filter:
		d.Layers = len(f.Layers())
	case *cascade.Cascade:
		d.Layers = len(f.Levels())
	case *redisbloom.Filter:
		d.Layers = len(f.Layers())
	}
	d.describe(f.(filterfile.Filter).Stats())
	return d
}

func (d *description) describe(s bloom.Stats) {
	over := s.OverP()
	d.Stats, d.OverP = &s, &over
}

// describeColumn describes a column by its filter f, or by err, the error of reading f.
func describeColumn(of parquet.Column, f *bloom.BloomFilter, err error) column {
	types := strings.TrimPrefix(of.String(), fmt.Sprintf("%s:%d ", of.Path, of.RowGroup))
	c := column{Name: of.Path, RowGroup: of.RowGroup, Type: types}
	if err != nil {
		c.Error = strings.TrimPrefix(err.Error(), "bloom: ")
		return c
	}
	rate := f.Stats().EstimatedFalsePositiveRate
	c.SizeBytes, c.Rate = f.SizeBytes(), &rate
	return c
}

func (d *description) print(w io.Writer, from *filterfile.Format) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, text string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", label, printable(fmt.Sprintf(text, args...)))
	}
	fmt.Fprintln(t, printable(d.File))
	row("format", "%s: %s", from.Name, from.About)
	if d.Columns != nil && len(d.Columns) == 0 {
		row("columns", "none has a filter")
	}
	for _, c := range d.Columns {
		about := c.Error
		if c.Rate != nil {
			about = fmt.Sprintf("%s, rate %.3g", humanize.IBytes(c.SizeBytes), *c.Rate)
		}
		row("column", "%s:%d %s: %s", c.Name, c.RowGroup, c.Type, about)
	}
	s := d.Stats
	if s == nil {
		return t.Flush()
	}
	switch {
	case s.P == 0:
		row("made for", "unknown: the file does not say")
	case d.Window != "":
		row("made for", "any number of keys at a rate of %v", s.P)
	default:
		row("made for", "%s keys at a rate of %v", grouped(s.N), s.P)
	}
	if d.Layers > 0 {
		row("layers", "%d", d.Layers)
	}
	if d.Window != "" {
		row("window", "%s", d.Window)
	}
	row("strategy", "%s, k = %d", s.Strategy, s.K)
	row("hash", "%s", s.Hash)
	row("size", "%s bits, %s", grouped(s.M), humanize.IBytes(s.SizeBytes))
	row("fill", "%.1f %% of the bits are set", 100*float64(s.Ones)/float64(s.M))
	if s.N == 0 || d.Window != "" || s.EstimatedCount == math.MaxUint64 {
		row("holds", "%s", holds(s.EstimatedCount))
	} else {
		row("holds", "%s, %.1f %% of the plan", holds(s.EstimatedCount), 100*float64(s.EstimatedCount)/float64(s.N))
	}
	row("rate now", "%.3g", s.EstimatedFalsePositiveRate)
	if !slices.Contains(names(bloom.Strategies()), s.Strategy) {
		row("", "if positions were independent; a small filter of this strategy has a higher one")
	}
	if *d.OverP {
		row("", "above the planned %v: too many keys; build a larger filter", s.P)
	}
	return t.Flush()
}
