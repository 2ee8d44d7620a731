// Goleveldb: the filters of a LevelDB's tables by package bloom. LevelDB makes a small
// filter for each 2 KiB of keys, some tens of them: what it costs to make one matters as
// much as what it costs to ask it.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// Policy is a filter.Filter: so many bits a key, and the strategy.
type Policy struct {
	BitsPerKey float64
	Strategy   bloom.Strategy
}

// Name is written to the tables, and decides who reads their filters. What a filter is
// stands in its trailer, so that bits, strategy and hash may change.
func (Policy) Name() string { return "github.com/seed3447c163/bloom/view" }

// Contains is true, perhaps, where a filter cannot be read: an error cannot be returned,
// and false would lose keys.
func (Policy) Contains(filter, key []byte) bool {
	v, err := view.New(filter)
	return err != nil || v.Contains(key)
}

// NewGenerator is called once for each table. Wrong bits or a wrong strategy are a mistake
// in the program, see newPolicy.
func (p Policy) NewGenerator() filter.FilterGenerator {
	builder, err := view.NewBuilder(p.BitsPerKey, p.Strategy, bloom.WithHash(bloom.RapidHash))
	if err != nil {
		panic(err)
	}
	return generator{builder}
}

type generator struct{ *view.Builder }

// Generate writes into the table's own buffer.
func (g generator) Generate(b filter.Buffer) { g.AppendTo(b.Alloc(g.SizeBytes())[:0]) }

// newPolicy refuses what NewGenerator would panic at.
func newPolicy(bitsPerKey float64, s bloom.Strategy) (Policy, error) {
	_, err := view.NewBuilder(bitsPerKey, s, bloom.WithHash(bloom.RapidHash))
	return Policy{bitsPerKey, s}, err
}

func run() error {
	policy, err := newPolicy(10, bloom.DoubleHashing)
	if err != nil {
		return err
	}
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{Filter: policy, WriteBuffer: 64 << 10})
	if err != nil {
		return err
	}
	defer db.Close()
	for i := range 10_000 {
		if err := db.Put(fmt.Append(nil, "key ", i), []byte("value"), nil); err != nil {
			return err
		}
	}
	found := 0
	for i := range 20_000 {
		switch _, err := db.Get(fmt.Append(nil, "key ", i), nil); {
		case err == nil:
			found++
		case !errors.Is(err, leveldb.ErrNotFound) || i < 10_000:
			return fmt.Errorf("key %d: %w", i, err)
		}
	}
	fmt.Println("found", found, "of 10000, and no others")
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
