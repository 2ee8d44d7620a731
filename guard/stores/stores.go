// Package stores has two key-value stores that a guard can stand in front of, bbolt and
// pebble: examples to copy from, each a file. Neither has a log that can be read, so both
// write each key that is put into a second table, under a rising number, in the
// transaction that writes the record. That number is the position.
package stores

import (
	"context"
	"encoding/binary"

	"github.com/seed3447c163/bloom/guard"
)

// A Store is a key-value store that a guard can stand in front of. All methods are safe
// for concurrent use.
type Store interface {
	guard.Store

	// Get returns the value of a key, and whether there is one.
	Get(ctx context.Context, key []byte) (value []byte, found bool, err error)
	// Put stores values under their keys, all or none. Call it in the guard's Put.
	Put(keys, values [][]byte) error
	// Delete deletes keys, all or none; it needs no guard.
	Delete(keys ...[]byte) error
	// Forget deletes from the log what is not newer than a position, which the guard's
	// Save has returned.
	Forget(position []byte) error
	Close() error
}

// Open opens or makes the store in a folder: "bbolt" or "pebble".
var Open = map[string]func(dir string) (Store, error){
	"bbolt":  func(dir string) (Store, error) { return OpenBolt(dir) },
	"pebble": func(dir string) (Store, error) { return OpenPebble(dir) },
}

func encode(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// decode returns the number of a position, 0 if there is none.
func decode(position []byte) uint64 {
	if len(position) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(position)
}
