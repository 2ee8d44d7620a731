package filters

import (
	"math"

	"github.com/cockroachdb/pebble/v2/bloom"
)

// statics are filters that are built when all keys are known.
func statics() []*Peer {
	return []*Peer{{
		Name: "pebble", Module: "github.com/cockroachdb/pebble/v2", Hash: "32-bit (own)", Safe: Readers, Static: true,
		Make: func(_ uint64, p float64) (Filter, error) {
			// It is given bits a key and says that 10 yields about 1 %: so the
			// textbook's number, rounded up.
			policy := bloom.FilterPolicy(math.Ceil(-math.Log2(p) / math.Ln2))
			return &pebble{policy: policy, writer: policy.NewWriter(pebbleTable)}, nil
		},
	}}
}

// pebbleTable is pebble.TableFilter, the one kind there is; its package would bring the
// whole store with it.
const pebbleTable = 0

// pebble is the filter of the tables of CockroachDB's store, in RocksDB's format: all bits
// of a key in one cache line.
type pebble struct {
	policy bloom.FilterPolicy
	writer interface {
		AddKey(key []byte)
		Finish(buf []byte) []byte
	}
	data []byte
}

func (b *pebble) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.writer.AddKey(key); return false })
}
func (b *pebble) Build() { b.data = b.writer.Finish(nil) }
func (b *pebble) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return b.policy.MayContain(pebbleTable, b.data, key) })
}
func (b *pebble) Bits() uint64 { return uint64(len(b.data)) * 8 }
