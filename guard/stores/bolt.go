package stores

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Bolt is a bbolt database. Its transactions are on the disk when they are committed, so
// what View shows survives a crash.
type Bolt struct{ db *bbolt.DB }

var (
	records = []byte("records")
	puts    = []byte("puts") // number → key
)

// OpenBolt opens or makes a database in a folder.
func OpenBolt(dir string) (*Bolt, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(filepath.Join(dir, "records.bbolt"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(records)
		if err == nil {
			_, err = tx.CreateBucketIfNotExists(puts)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Bolt{db}, nil
}

func (b *Bolt) Close() error { return b.db.Close() }

func (b *Bolt) Get(_ context.Context, key []byte) (value []byte, found bool, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(records).Get(key)
		found = v != nil
		value = bytes.Clone(v) // bbolt's own is valid only in here
		return nil
	})
	return value, found, err
}

// Put stores values. Keys that are there already are not logged again.
func (b *Bolt) Put(keys, values [][]byte) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		records, puts := tx.Bucket(records), tx.Bucket(puts)
		for i, key := range keys {
			if records.Get(key) == nil {
				number, err := puts.NextSequence()
				if err == nil {
					err = puts.Put(encode(number), key)
				}
				if err != nil {
					return err
				}
			}
			if err := records.Put(key, values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Bolt) Delete(keys ...[]byte) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		for _, key := range keys {
			if err := tx.Bucket(records).Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Position returns the number of the last put.
func (b *Bolt) Position(context.Context) (position []byte, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		position = encode(tx.Bucket(puts).Sequence())
		return nil
	})
	return position, err
}

// Keys lists the puts since a position, or all records if the log does not reach back so
// far, or no longer does when it has been listed in part.
func (b *Bolt) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	const batch = 4096 // while a transaction reads, a put that needs a larger file waits
	return func(yield func([]byte, error) bool) {
		bylog, from := len(since) > 0, []byte{}
		if bylog {
			from = encode(decode(since) + 1)
		}
		for from != nil {
			var keys [][]byte
			var room []byte // of all of them
			err := b.db.View(func(tx *bbolt.Tx) error {
				bucket := tx.Bucket(puts)
				if bylog && !reachesBack(bucket, encode(decode(from)-1)) {
					bylog, from = false, []byte{}
				}
				if !bylog {
					bucket = tx.Bucket(records)
				}
				c := bucket.Cursor()
				key, value := c.Seek(from)
				for ; key != nil && len(keys) < batch; key, value = c.Next() {
					listed := key
					if bylog {
						listed = value
					}
					start := len(room)
					room = append(room, listed...)
					keys = append(keys, room[start:])
				}
				from = bytes.Clone(key) // nil at the end
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
		}
	}
}

// reachesBack reports whether the log has all puts since a position.
func reachesBack(log *bbolt.Bucket, since []byte) bool {
	if decode(since) > log.Sequence() {
		return false // the store is older than the guard's file
	}
	oldest, _ := log.Cursor().First()
	return decode(since) == log.Sequence() || oldest != nil && decode(oldest) <= decode(since)+1
}

// Forget deletes some thousand entries at a time: other transactions wait for each.
func (b *Bolt) Forget(position []byte) error {
	const batch = 50_000
	for more := true; more; {
		err := b.db.Update(func(tx *bbolt.Tx) error {
			log := tx.Bucket(puts)
			var old [][]byte // keys must not be deleted under a cursor
			c := log.Cursor()
			for key, _ := c.First(); key != nil && bytes.Compare(key, position) <= 0 && len(old) < batch; key, _ = c.Next() {
				old = append(old, bytes.Clone(key)) // the page may change
			}
			more = len(old) == batch
			for _, key := range old {
				if err := log.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
