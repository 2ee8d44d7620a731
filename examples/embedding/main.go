// Embedding uses package bloom for the filters of a pebble store's tables. A table's keys go
// through a FilterWriter; MayContain queries the filter in pebble's block cache, without a copy
// and without an allocation.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
)

// Policy is a pebble.FilterPolicy.
type Policy struct {
	BitsPerKey float64
	Strategy   bloom.Strategy
}

// Name is written to the tables: pebble queries a filter only by the policy of the same name.
// The filter's trailer holds bits, strategy and hash, so they may change under one name.
func (Policy) Name() string { return "github.com/seed3447c163/bloom/view" }

// MayContain returns true for an unreadable filter: pebble takes no error here, and false would
// hide keys.
func (Policy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	v, err := view.New(filter)
	return err != nil || v.Contains(key)
}

// NewWriter is called once per table. It panics on a bad Policy: pebble takes no error here either.
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

// open opens a store whose tables have filters at every level.
func open(dir string, fs vfs.FS, policy pebble.FilterPolicy) (*pebble.DB, error) {
	options := &pebble.Options{FS: fs}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = policy
	}
	return pebble.Open(dir, options)
}

func main() {
	db, err := open("store", vfs.NewMem(), Policy{10, bloom.DoubleHashing})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	const keys = 10_000
	for i := range keys {
		err = errors.Join(err, db.Set(fmt.Append(nil, "key ", i), []byte("value"), pebble.NoSync))
	}
	if err = errors.Join(err, db.Flush()); err != nil {
		log.Fatal(err)
	}
	for i := range keys {
		if _, _, err := db.Get(fmt.Append(nil, "key ", i, "!")); !errors.Is(err, pebble.ErrNotFound) {
			log.Fatalf("an absent key: %v", err)
		}
	}
	skipped := db.Metrics().Filter.Hits
	fmt.Printf("%d absent keys: %d table reads saved by the filters, at most %d in vain\n", keys, skipped, keys-skipped)
}
