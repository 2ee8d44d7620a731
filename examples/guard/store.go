package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/seed3447c163/bloom/guard"
)

// A store is a bbolt database behind a guard. bbolt has no log that can be read, so the store writes each new key to a
// second bucket, under a rising number, in the transaction that writes the record. The last number is the position.
type store struct{ db *bbolt.DB }

var _ guard.Store = (*store)(nil)

var (
	records = []byte("records")
	puts    = []byte("puts") // number → key
	secrets = []byte("secrets")
)

// initialMmap is larger than the database. Otherwise a put that needs a larger mapping would wait for the end of all
// read transactions, such as a list of all keys.
const initialMmap = 256 << 20

// openStore opens or makes a database in a folder. Only one process can have it open.
func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(filepath.Join(dir, "records.bbolt"), 0o600, &bbolt.Options{Timeout: time.Second, InitialMmapSize: initialMmap})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{records, puts, secrets} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &store{db}, nil
}

// secret returns the secret of the guard's filter. The first call makes it.
func (s *store) secret() (secret [16]byte, err error) {
	err = s.db.Update(func(tx *bbolt.Tx) error {
		bucket, name := tx.Bucket(secrets), []byte("guard")
		if len(bucket.Get(name)) != len(secret) {
			_, _ = rand.Read(secret[:]) // never fails
			return bucket.Put(name, secret[:])
		}
		copy(secret[:], bucket.Get(name))
		return nil
	})
	return secret, err
}

func (s *store) get(_ context.Context, key []byte) (value []byte, found bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(records).Get(key)
		found = v != nil
		value = bytes.Clone(v) // v is valid only in this transaction
		return nil
	})
	return value, found, err
}

// put stores a value, and logs the key if it is new. It must run in the guard's Put.
func (s *store) put(key, value []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		records, puts := tx.Bucket(records), tx.Bucket(puts)
		if records.Get(key) == nil {
			number, err := puts.NextSequence()
			if err == nil {
				err = puts.Put(encode(number), key)
			}
			if err != nil {
				return err
			}
		}
		return records.Put(key, value)
	})
}

// delete deletes a key. The guard need not know: it only lets some lookups of the key through in vain.
func (s *store) delete(key []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(records).Delete(key) })
}

// Position returns the number of the last put. It uses a write transaction, because such a transaction begins only when
// the last commit is on the disk. Readers see a commit earlier.
func (s *store) Position(context.Context) ([]byte, error) {
	tx, err := s.db.Begin(true)
	if err != nil {
		return nil, err
	}
	position := encode(tx.Bucket(puts).Sequence())
	return position, tx.Rollback()
}

// Keys lists the puts after a position, or all records if the log does not have the position, because it is empty,
// deleted, or from a newer copy of the database. The transaction reads one state of the database.
func (s *store) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := s.db.View(func(tx *bbolt.Tx) error {
			c := tx.Bucket(puts).Cursor()
			if number, _ := c.Seek(since); number != nil && bytes.Equal(number, since) {
				for number, key := c.Next(); number != nil && yield(key, nil); number, key = c.Next() {
				}
				return nil
			}
			c = tx.Bucket(records).Cursor()
			for key, _ := c.First(); key != nil && yield(key, nil); key, _ = c.Next() {
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// forget deletes the entries of the log before position, which the guard has saved. It keeps the entry at position, so
// that Keys finds it.
func (s *store) forget(position []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		c := tx.Bucket(puts).Cursor()
		for number, _ := c.First(); number != nil && bytes.Compare(number, position) < 0; number, _ = c.Seek(number) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
}

func encode(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }
