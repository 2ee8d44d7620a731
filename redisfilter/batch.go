package redisfilter

import (
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A batch is the keys of one shard in a call.
type batch struct {
	shard     *shard
	indices   []int // of the answers
	keys      [][]byte
	positions []uint64 // in the first layer, k for each key
	k         int

	value  *incarnation
	slot   *slot  // nil for a handle that has only looked up
	ticket ticket // of the add under way
	state  uint64 // that the keys are packed for
	done   int    // keys that have an answer, or were sent without one

	err         error // the keys from done on were not added, and the other batches go on
	warning     error // too few replicas
	unknown     []int // indices of keys that may have been added
	unconfirmed []int // indices of keys that too few replicas have
}

func (b *batch) positionsOf(i int) []uint64 { return b.positions[i*b.k : (i+1)*b.k] }

// next returns the end of the keys that the next command has.
func (b *batch) next() int { return min(len(b.indices), b.done+commandKeys) }

// commandKeys is the largest number of keys of one command for a shard of several: they receive different numbers of the
// keys of a round.
const commandKeys = send.BatchKeys * 5 / 4
