package redisfilter

import "github.com/seed3447c163/bloom/redisfilter/internal/send"

// A batch is the keys of one shard in a call.
type batch struct {
	shard     *shard
	index     int      // of the shard
	k         int      // positions per key
	indices   []int    // of the keys in answers and fates
	keys      [][]byte // as many
	positions []uint64 // in the first layer, k for each key
	room      []uint64 // for positions in another layer
	answers   []bool
	fates     []fate

	value  *incarnation
	begin  func() int // leaves out keys before a command is made, and returns how many remain; nil for nothing
	merge  *piece     // what is added instead of keys
	ticket ticket     // of the add under way
	record uint64     // that it was sent with
	state  uint64     // that the keys are packed for
	done   int        // keys whose fate is known

	resend  bool  // the present command is to be sent again at once
	lost    error // why a sending of the present command has no reply
	won     bool  // the only key of the present command was new to the sending without a reply
	unclear int   // keys before this one may have been added by a sending without a reply
	cause   error // and why it has none

	repacked int  // how often, because the state was another one
	moved    bool // the record was looked for in the other half of its slot

	layers []layer // that the last lookup has read
	alive  []bool  // which of them count; nil for all
	again  bool    // look up once more

	err     error // the keys from done on have no answer, and the other batches go on
	warning error // too few replicas
	doubt   error // some keys are there, and perhaps this call added them
	full    error // some keys found no room
}

func (b *batch) positionsOf(i int) []uint64 { return b.positions[i*b.k : (i+1)*b.k] }

// commandKeys is the largest number of keys of one command for a shard of several: they receive different numbers of the
// keys of a round.
const commandKeys = send.BatchKeys * 5 / 4

// next returns the end of the keys that the next command has.
func (b *batch) next() int { return min(len(b.indices), b.done+commandKeys) }

// settle gives the keys before the end a fate.
func (b *batch) settle(f *handle, end int, fate fate) {
	if fate == unknown {
		f.sender.Counts.Unknown.Add(uint64(end - b.done))
	}
	for _, i := range b.indices[b.done:end] {
		b.fates[i] = fate
	}
	b.done = end
}
