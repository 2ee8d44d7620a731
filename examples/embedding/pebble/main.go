// Pebble: the filters of an LSM store's tables by package bloom. The policy has two
// methods that matter: a writer that a table's keys go through, and MayContain, which asks
// the filter where pebble has it in its block cache, without a copy or an allocation.
package main

import (
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
)

// Policy is a pebble.FilterPolicy: so many bits a key, and the strategy.
type Policy struct {
	BitsPerKey float64
	Strategy   bloom.Strategy
}

// Name is written to the tables, and decides who reads their filters. What a filter is
// stands in its trailer, so that bits, strategy and hash may change.
func (Policy) Name() string { return "github.com/seed3447c163/bloom/view" }

// MayContain is true, perhaps, where a filter cannot be read: an error cannot be returned,
// and false would lose keys.
func (Policy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	v, err := view.New(filter)
	return err != nil || v.Contains(key)
}

// NewWriter is called once for each table. Wrong bits or a wrong strategy are a mistake in
// the program, see newPolicy.
func (p Policy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	builder, err := view.NewBuilder(p.BitsPerKey, p.Strategy, bloom.WithHash(bloom.RapidHash))
	if err != nil {
		panic(err)
	}
	return writer{builder}
}

type writer struct{ *view.Builder }

func (w writer) AddKey(key []byte)        { w.Add(key) }
func (w writer) Finish(dst []byte) []byte { return w.AppendTo(dst) }

// newPolicy refuses what NewWriter would panic at.
func newPolicy(bitsPerKey float64, s bloom.Strategy) (Policy, error) {
	_, err := view.NewBuilder(bitsPerKey, s, bloom.WithHash(bloom.RapidHash))
	return Policy{bitsPerKey, s}, err
}

// open opens a store whose tables have filters at every level.
func open(dir string, fs vfs.FS, policy pebble.FilterPolicy) (*pebble.DB, error) {
	options := &pebble.Options{FS: fs}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = policy
	}
	return pebble.Open(dir, options)
}

func run() error {
	policy, err := newPolicy(10, bloom.DoubleHashing)
	if err != nil {
		return err
	}
	db, err := open("store", vfs.NewMem(), policy)
	if err != nil {
		return err
	}
	defer db.Close()
	for i := range 10_000 {
		if err := db.Set(fmt.Append(nil, "key ", i), []byte("value"), pebble.NoSync); err != nil {
			return err
		}
	}
	if err := db.Flush(); err != nil {
		return err
	}
	for i := range 20_000 {
		if _, closer, err := db.Get(fmt.Append(nil, "key ", i)); err == nil {
			closer.Close()
		} else if err != pebble.ErrNotFound || i < 10_000 {
			return fmt.Errorf("key %d: %w", i, err)
		}
	}
	metrics := db.Metrics()
	fmt.Printf("tables spared by their filters: %d, read without a hit: at most %d\n", metrics.Filter.Hits, 20_000-10_000-metrics.Filter.Hits)
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
