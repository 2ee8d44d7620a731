// Embedding uses packages bloom and view for the table filters of a pebble store. A FilterWriter gets the keys of a
// table. MayContain looks up a key in the filter in pebble's block cache, without a copy or an allocation.
package main

import (
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
)

// Policy is a pebble.FilterPolicy. It reuses its view.Writers: a new one would allocate 16 bytes per key.
type Policy struct{ builders *sync.Pool }

func newPolicy(bitsPerKey float64, s bloom.Strategy) (Policy, error) {
	newBuilder := func() (*view.Writer, error) { return view.NewWriter(bitsPerKey, s, bloom.WithHash(bloom.RapidHash)) }
	_, err := newBuilder() // with the same arguments, the others succeed, too
	return Policy{&sync.Pool{New: func() any {
		builder, _ := newBuilder()
		return builder
	}}}, err
}

// Name is written to the tables. pebble passes a filter only to a policy of the same name. The filter's trailer has k,
// the strategy and the hash, so these may change without another name.
func (Policy) Name() string { return "github.com/seed3447c163/bloom/view" }

// MayContain returns true for an unreadable filter, because it cannot return an error, and false would hide keys.
func (Policy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	v, err := view.Parse(filter)
	return err != nil || v.Contains(key)
}

// NewWriter is called once per table.
func (p Policy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return writer{p.builders.Get().(*view.Writer), p.builders}
}

type writer struct {
	*view.Writer
	builders *sync.Pool
}

func (w writer) AddKey(key []byte) { w.Add(key) }

// Finish appends the filter to dst. After that, the view.Writer is empty and pebble no longer uses w, so the pool gets
// it.
func (w writer) Finish(dst []byte) []byte {
	defer w.builders.Put(w.Writer)
	return w.AppendTo(dst)
}

// open opens a store whose tables have filters at every level.
func open(dir string, fs vfs.FS, policy pebble.FilterPolicy) (*pebble.DB, error) {
	options := &pebble.Options{FS: fs}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = policy
	}
	return pebble.Open(dir, options)
}

func main() {
	policy, err := newPolicy(10, bloom.DoubleHashing)
	if err != nil {
		log.Fatal(err)
	}
	db, err := open("store", vfs.NewMem(), policy)
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
