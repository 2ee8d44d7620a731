package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/seed3447c163/bloom/counting"
	"go.etcd.io/bbolt"
)

// A Guard is a key-value store with a filter in front of it: a key of which the filter
// knows that it is absent never reaches the store. The filter counts, so that deleted
// keys are absent again; for a store that only grows, a plain one would do.
//
// It is safe for concurrent use. bbolt allows one writer at a time, so that each key of
// the store is counted once.
type Guard struct {
	db     *bbolt.DB
	filter *counting.Filter

	asked, spared atomic.Int64 // lookups in the store, and those it was spared
}

var bucket = []byte("records")

// Open opens a store for about n records and fills the filter from it.
func Open(path string, n uint64, p float64) (*Guard, error) {
	filter, err := counting.New(n, p)
	if err != nil {
		return nil, err
	}
	// This store is made anew by each run, so it need not survive a power cut.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		records, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return records.ForEach(func(key, _ []byte) error {
			filter.Add(key)
			return nil
		})
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Guard{db: db, filter: filter}, nil
}

// Close closes the store.
func (g *Guard) Close() error { return g.db.Close() }

// Get returns the value of a key, and false if there is none.
func (g *Guard) Get(key []byte) (value []byte, ok bool, err error) {
	if !g.filter.Contains(key) {
		g.spared.Add(1)
		return nil, false, nil
	}
	return g.lookUp(key)
}

// lookUp asks the store itself.
func (g *Guard) lookUp(key []byte) (value []byte, ok bool, err error) {
	g.asked.Add(1)
	err = g.db.View(func(tx *bbolt.Tx) error {
		found := tx.Bucket(bucket).Get(key)
		if ok = found != nil; ok {
			value = append([]byte{}, found...) // bbolt's own is valid only in here
		}
		return nil
	})
	return value, ok, err
}

// Put stores values under their keys, all or none. Keys that are new go into the filter
// before the store shows them, so that no reader is told that they are absent.
func (g *Guard) Put(keys, values [][]byte) error {
	var added [][]byte
	err := g.db.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket(bucket)
		for i, key := range keys {
			if records.Get(key) == nil {
				g.filter.Add(key)
				added = append(added, key)
			}
			if err := records.Put(key, values[i]); err != nil {
				return fmt.Errorf("put %q: %w", key, err)
			}
		}
		return nil
	})
	if err != nil {
		g.filter.RemoveMany(added, nil)
	}
	return err
}

// Delete deletes a key and reports whether it was there. It leaves the filter after the
// store has forgotten it.
func (g *Guard) Delete(key []byte) (ok bool, err error) {
	err = g.db.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket(bucket)
		ok = records.Get(key) != nil
		return records.Delete(key)
	})
	if err != nil || !ok {
		return false, err
	}
	g.filter.Remove(key)
	return true, nil
}
