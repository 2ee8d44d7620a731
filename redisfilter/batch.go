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
	begin  func() int // leaves out keys of calls that have ended, and returns how many remain; may be nil
	merge  *piece     // what is added instead of keys
	ticket ticket     // of the add under way
	record uint64     // that it was sent with
	state  uint64     // that the keys are packed for
	done   int        // keys whose fate is known

	resend bool // the present command is to be sent again at once
	// A command without a reply may have been executed.
	lost    error // why the present command has no reply, if it was sent before
	won     bool  // the present command has one key, which was new when the server executed it
	unclear int   // the command without a reply may have added keys before this index
	cause   error // why that command has no reply

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

// commandKeys is the largest number of keys of one command for a shard of several: they receive different numbers of
// the keys of a round.
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
