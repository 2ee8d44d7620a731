package redisfilter

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A batch has the keys of a call that belong to one shard.
type batch struct {
	shard     *shard
	index     int      // number of the shard
	k         int      // positions per key
	indices   []int    // index of each key in answers and fates
	keys      [][]byte // as many as indices
	positions []uint64 // in the first layer, k for each key
	room      []uint64 // buffer for the positions of a key in another layer
	answers   []bool
	fates     []fate

	value    *incarnation
	state    uint64 // that the next command assumes, see mode
	done     int    // keys whose fate is known
	repacked int    // number of attempts after the first
	resend   bool   // send the present command again at once
	cached   []bool // which of the keys of the present command the cache had; nil for none

	layers []layer // that the last lookup has read
	alive  []bool  // which of layers are not forgotten; nil for all
	again  bool    // look up once more

	err     error // error of the keys from done on; other batches continue
	warning error // too few replicas, or the server has forgotten keys of the cache
	full    error // some keys found no room
}

func (b *batch) positionsOf(i int) []uint64 { return b.positions[i*b.k : (i+1)*b.k] }

// commandKeys is the largest number of keys of one command. It is above send.BatchKeys, because the keys of a round are
// not evenly distributed over shards.
const commandKeys = send.BatchKeys * 5 / 4

// next returns the index after the last key that the next command sends.
func (b *batch) next() int { return min(len(b.indices), b.done+commandKeys) }

// use sets the incarnation of a batch, and the state that the incarnation probably has now.
func (b *batch) use(f *handle, v *incarnation) { b.value, b.state = v, f.plan.mode.expect(v.known()) }

// settle sets the fate of the keys from index done to end-1, and then done = end. Unsure keys also get the answer true.
func (b *batch) settle(end int, fate fate) {
	for _, i := range b.indices[b.done:end] {
		if b.fates[i] = fate; fate == unsure {
			b.answers[i] = true
		}
	}
	b.done = end
}

// tryAgain marks the present command to be sent again. At the eleventh attempt it sets b.err instead, with the reason
// why.
func (b *batch) tryAgain(why string) {
	if b.repacked++; b.repacked > 10 {
		b.err = fmt.Errorf("%s during each of %d attempts", why, b.repacked)
	}
	b.resend = b.err == nil
}

// askCache records in b.cached which keys of the next command the cache has.
func (b *batch) askCache() {
	b.cached = b.cached[:0]
	if b.value.cache.bits.Load() == nil {
		return
	}
	for i := b.done; i < b.next(); i++ {
		b.cached = append(b.cached, b.value.cache.has(b.positionsOf(i)))
	}
}

// compare compares the server's answer for key i of the present command with the cache's answer when the command was
// sent. It sets a warning that wraps ErrLost if the server has forgotten the key; then the cache is not used any more.
func (f *handle) compare(b *batch, i int, there bool, sent time.Duration) {
	switch {
	case i >= len(b.cached) || !b.cached[i]:
	case there:
		b.value.cache.confirm(sent)
	default:
		b.warning = f.lost(b.value, isOlder)
	}
}
