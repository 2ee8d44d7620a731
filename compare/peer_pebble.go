package main

import (
	"math"

	"github.com/cockroachdb/pebble/v2/bloom"
)

// pebble's filter sits in the tables of CockroachDB's store, in RocksDB's format:
// all bits of a key in one cache line, by a 32-bit hash of its own. It is static:
// a writer collects the hashes and makes the bytes at the end.
func pebblePeers() []*peer {
	return []*peer{{
		name: "pebble", module: "github.com/cockroachdb/pebble/v2", hash: "32-bit (own)", safe: safeReaders, blocked: true, static: true,
		make: func(_ uint64, p float64) (filter, error) {
			// It is given bits a key and says that 10 yields about 1 %: so the
			// textbook's number, rounded up.
			policy := bloom.FilterPolicy(math.Ceil(-math.Log2(p) / math.Ln2))
			return &pebble{policy: policy, writer: policy.NewWriter(pebbleTable)}, nil
		},
	}}
}

// pebbleTable is pebble.TableFilter, the one kind there is; its package would
// bring the whole store with it.
const pebbleTable = 0

type pebble struct {
	policy bloom.FilterPolicy
	writer interface {
		AddKey(key []byte)
		Finish(buf []byte) []byte
	}
	data []byte
}

func (b *pebble) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.writer.AddKey(key)
	}
	return 0
}

func (b *pebble) build() { b.data = b.writer.Finish(nil) }

func (b *pebble) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.policy.MayContain(pebbleTable, b.data, key) {
			found++
		}
	}
	return found
}

func (b *pebble) bits() uint64 { return uint64(len(b.data)) * 8 }
