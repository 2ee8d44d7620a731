package redisfilter

import "github.com/seed3447c163/bloom/redisfilter/internal/send"

// A batch is the keys of one shard in a call.
type batch struct {
	shard     *shard
	k         int      // positions per key
	indices   []int    // of the keys in answers and fates
	keys      [][]byte // as many
	positions []uint64 // in the first layer, k for each key
	room      []uint64 // for positions in another layer
	answers   []bool
	fates     []fate

	value  *incarnation
	slot   *slot  // nil for a handle that has only looked up
	ticket ticket // of the add under way
	state  uint64 // that the keys are packed for
	done   int    // keys whose fate is known

	repacked int // how often, because the state was another one

	layers []layer // that the last lookup has read
	alive  []bool  // which of them count; nil for all
	again  bool    // the filter has grown: look up once more

	err     error // the keys from done on have no answer, and the other batches go on
	warning error // too few replicas
}

func (b *batch) positionsOf(i int) []uint64 { return b.positions[i*b.k : (i+1)*b.k] }

// commandKeys is the largest number of keys of one command for a shard of several: they receive different numbers of the
// keys of a round.
const commandKeys = send.BatchKeys * 5 / 4

// next returns the end of the keys that the next command has.
func (b *batch) next() int { return min(len(b.indices), b.done+commandKeys) }

// settle gives the keys before the end a fate.
func (b *batch) settle(end int, fate fate) {
	for _, i := range b.indices[b.done:end] {
		b.fates[i] = fate
	}
	b.done = end
}
