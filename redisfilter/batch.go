package redisfilter

import "github.com/seed3447c163/bloom/redisfilter/internal/send"

// A batch has the keys of one shard in a call.
type batch struct {
	shard     *shard
	index     int      // number of the shard
	k         int      // positions per key
	indices   []int    // index of each key in answers and fates
	keys      [][]byte // as many as indices
	positions []uint64 // in the first layer, k for each key
	room      []uint64 // for positions in another layer
	answers   []bool
	fates     []fate

	value  *incarnation
	begin  func() int // drops keys of calls that have ended, and returns the number left; may be nil
	merge  *piece     // added instead of keys, if not nil
	ticket ticket     // of the present command
	record uint64     // with which the present command was sent
	state  uint64     // for which the keys are packed
	done   int        // keys whose fate is known

	resend bool // send the present command again at once
	// A command without a reply may have been executed.
	lost    error // why an earlier sending of the present command has no reply, or nil
	won     bool  // the present command has one key, and a sending without a reply has added it
	unclear int   // a command without a reply may have added keys before this index
	cause   error // why that command has no reply

	repacked int  // number of further attempts
	moved    bool // the record was looked for in the other half of its slot

	layers []layer // that the last lookup has read
	alive  []bool  // which of them are not forgotten; nil for all
	again  bool    // look up once more

	err     error // of the keys from done on; other batches continue
	warning error // too few replicas
	doubt   error // some keys are in the filter, perhaps added by this call
	full    error // some keys found no room
}

func (b *batch) positionsOf(i int) []uint64 { return b.positions[i*b.k : (i+1)*b.k] }

// commandKeys is the largest number of keys of one command. It is above send.BatchKeys, because the keys of a round are
// not evenly distributed over shards.
const commandKeys = send.BatchKeys * 5 / 4

// next returns the end of the keys of the next command.
func (b *batch) next() int { return min(len(b.indices), b.done+commandKeys) }

// settle sets the fate of the keys from done to end.
func (b *batch) settle(f *handle, end int, fate fate) {
	if fate == unknown {
		f.sender.Counts.Unknown.Add(uint64(end - b.done))
	}
	for _, i := range b.indices[b.done:end] {
		b.fates[i] = fate
	}
	b.done = end
}
