package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Arguments as interfaces, so that the many arguments of a command need no allocation each.
var argGet, argWord any = "GET", "i64"

// A reading is one command that looks up keys of a batch in all layers, without a script: the number of layers, or the
// generation, comes with the answers.
type reading struct {
	batch     *batch
	call      *send.Call
	cmd       *redis.IntSliceCmd
	confirmed numbers  // when the command was made
	known     uint64   // the state, then
	to        int      // behind the last key
	masks     []uint64 // of each word of a key
	offsets   []uint64 // of all words, in bits
}

// headWords are the words that a lookup reads before the words of the keys: the slot, the epoch at the end, the state and the
// shift.
const headWords = slotBytes/8 + 3

// read sends a command that looks up keys of each batch.
func (f *handle) read(ctx context.Context, batches []*batch) {
	readings, calls := make([]*reading, 0, len(batches)), make([]*send.Call, 0, len(batches))
	for _, b := range batches {
		if b.layers, b.err = f.plan.mode.reading(b.state); b.err == nil {
			r := f.newReading(ctx, b)
			readings, calls = append(readings, r), append(calls, r.call)
		}
	}
	f.sender.Send(ctx, calls...)
	for _, r := range readings {
		f.answered(ctx, r)
	}
}

// newReading makes the command for keys of a batch.
func (f *handle) newReading(ctx context.Context, b *batch) *reading {
	r := &reading{batch: b, to: b.next(), known: b.value.state.Load()}
	perKey := 0
	for _, l := range b.layers {
		perKey += l.words
	}
	r.offsets = make([]uint64, 0, headWords+(r.to-b.done)*perKey)
	r.masks = make([]uint64, 0, (r.to-b.done)*perKey)
	args := make([]any, 2, 2+3*cap(r.offsets))
	args[0], args[1] = "BITFIELD_RO", b.shard.name
	get := func(at uint64) {
		r.offsets = append(r.offsets, at*8)
		args = append(args, argGet, argWord, &r.offsets[len(r.offsets)-1])
	}
	// An intact slot shows that the value is the right one and not cut short before it.
	if b.slot != nil {
		r.confirmed = b.slot.confirmed()
		for at := uint64(0); at < slotBytes; at += 8 {
			get(b.slot.at + at)
		}
	}
	if b.slot == nil || !f.plan.fixed() {
		get(b.layers[len(b.layers)-1].end)
	}
	if !f.plan.fixed() {
		get(stateField)
		get(shiftField)
	}
	for i := b.done; i < r.to; i++ {
		for _, l := range b.layers {
			block := b.blockOf(i, l, f.plan.scheme)
			for word, mask := range block.masks {
				if mask != 0 {
					r.masks = append(r.masks, mask)
					get(l.at + block.index*blockBytes + uint64(word)*8)
				}
			}
		}
	}
	r.cmd = redis.NewIntSliceCmd(ctx, args...)
	r.call = &send.Call{Key: b.shard.name, Cmd: r.cmd}
	f.count(r.to-b.done, 60+28*len(r.offsets))
	return r
}

// answered reads the reply to a reading. If the filter has grown, no key has an answer, and b.state is raised.
func (f *handle) answered(ctx context.Context, r *reading) {
	b := r.batch
	if err := r.call.Err(); err != nil {
		b.err = f.refused(b.value, b.slot, err)
		return
	}
	values := r.cmd.Val()
	if len(values) != len(r.offsets) {
		b.err = fmt.Errorf("%d replies, want %d", len(values), len(r.offsets))
		return
	}
	if b.err = f.readHead(ctx, r, values[:len(values)-len(r.masks)]); b.err != nil || b.again {
		return
	}
	b.value.hear(0)
	values = values[len(values)-len(r.masks):]
	at := 0
	for i := b.done; i < r.to; i++ {
		found := false
		for n, l := range b.layers {
			all := b.alive == nil || b.alive[n]
			for range l.words {
				all = all && bits.ReverseBytes64(uint64(values[at]))&r.masks[at] == r.masks[at]
				at++
			}
			found = found || all
		}
		b.answers[b.indices[i]] = found
	}
	b.settle(r.to, answered)
}

// readHead compares what a lookup has read before the keys with what the handle knows, and finds out which layers count. It
// sets b.again if the keys are to be looked up once more.
func (f *handle) readHead(ctx context.Context, r *reading, head []int64) error {
	b := r.batch
	if b.slot != nil {
		var stored [slotBytes]byte
		for i := range slotBytes / 8 {
			binary.BigEndian.PutUint64(stored[8*i:], uint64(head[i]))
		}
		switch {
		case string(stored[:8]) != b.slot.tag:
			return f.taken(ctx, b.shard.name, b.value, b.slot, string(stored[:8]))
		case numbersOf(stored[lanesField:]).lack(r.confirmed):
			return f.onLost(b.value, isOlder)
		}
		head = head[slotBytes/8:]
	}
	if len(head) > 0 && uint64(head[0]) != binary.BigEndian.Uint64([]byte(b.value.epoch)) {
		return f.onLost(b.value, isGone)
	}
	if b.again = false; f.plan.fixed() {
		return nil
	}
	state, shift := readDouble(head[1]).whole(), readDouble(head[2]).whole()
	if _, impossible := f.plan.mode.reading(state); state < r.known || impossible != nil {
		return f.onLost(b.value, isOlder)
	}
	raise(&b.value.state, state)
	raise(&b.value.shift, shift)
	b.alive, b.again = f.plan.mode.alive(b.value.known(), b.state, state, shift)
	b.state = state
	return nil
}

// readDouble returns a number that a script has written and a BITFIELD has read.
func readDouble(value int64) double {
	return double(math.Float64frombits(bits.ReverseBytes64(uint64(value))))
}
