package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// argGet and argWord are arguments of BITFIELD_RO. They are interfaces already, so that the conversion does not
// allocate for each word.
var argGet, argWord any = "GET", "i64"

// A reading is one command that looks up keys of a batch in all layers, without a script. It also reads the value's
// state: the number of layers or the latest generation.
type reading struct {
	batch   *batch
	call    *send.Call
	cmd     *redis.IntSliceCmd
	known   uint64        // known state when the command was made
	to      int           // index after its last key
	sent    time.Duration // local time when it was sent
	masks   []uint64      // bits of the keys, for each word with such bits
	offsets []uint64      // of all words that are read, in bits
}

// headWords is the largest number of words that a lookup reads before the words of the keys: the last epoch, the state,
// the shift, and the time of the last add.
const headWords = 4

// read sends one command for each batch, to look up its next keys.
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

// newReading makes the command for the next keys of a batch.
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
	get(b.layers[len(b.layers)-1].end) // shows that the value is the right one, and not truncated
	if !f.plan.fixed() {
		get(stateField)
		get(shiftField)
	}
	if f.plan.opts.windowed {
		get(addedField)
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
	b.askCache()
	r.cmd, r.sent = redis.NewIntSliceCmd(ctx, args...), elapsed()
	r.call = &send.Call{Key: b.shard.name, Cmd: r.cmd}
	f.sender.Counts.Keys.Add(uint64(r.to - b.done))
	return r
}

// answered reads the reply to a reading. If readHead finds that the keys must be looked up again, no key gets an
// answer.
func (f *handle) answered(ctx context.Context, r *reading) {
	b := r.batch
	if err := r.call.Err(); err != nil {
		b.err = err
		return
	}
	values := r.cmd.Val()
	if len(values) != len(r.offsets) {
		b.err = fmt.Errorf("%d replies, want %d", len(values), len(r.offsets))
		return
	}
	if f.readHead(ctx, r, values[:len(values)-len(r.masks)]); b.err != nil || b.again {
		return
	}
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
		f.compare(b, i-b.done, found, r.sent)
	}
	b.settle(r.to, answered)
}

// readHead compares head, the words before the words of the keys, with the known state. It sets b.alive, the layers
// that count, and b.again if the keys must be looked up once more.
func (f *handle) readHead(ctx context.Context, r *reading, head []int64) {
	b, v := r.batch, r.batch.value
	b.again = false
	if uint64(head[0]) != binary.BigEndian.Uint64([]byte(v.epoch)) {
		f.goneAtLookup(ctx, b, isGone)
		return
	}
	if f.plan.fixed() {
		return
	}
	seen := seen{state: readDouble(head[1]).whole(), shift: readDouble(head[2]).whole()}
	if f.plan.opts.windowed {
		seen.added = readDouble(head[3]).whole()
	}
	if _, impossible := f.plan.mode.reading(seen.state); seen.state < r.known || seen.shift >= maxExact || impossible != nil {
		f.goneAtLookup(ctx, b, isOlder)
		return
	}
	raise(&v.state, seen.state)
	raise(&v.shift, seen.shift)
	k := v.known()
	alive, next := f.plan.mode.alive(k, b.state, seen)
	if next == ask {
		var ok bool
		if k.looked, ok = f.askClock(ctx, b); !ok {
			return
		}
		if b.repacked++; k.looked.added != seen.added && b.repacked <= 10 { // a key was added meanwhile
			next = again
		} else {
			k.time, k.age = 0, 0
			alive, next = f.plan.mode.alive(k, b.state, seen)
		}
	}
	b.alive, b.again, b.state = alive, next != judge, seen.state
}

// goneAtLookup calls the method gone for the batch of a lookup. If the value has expired and there is a next one, it
// sets b.again, so that the keys are looked up there.
func (f *handle) goneAtLookup(ctx context.Context, b *batch, how string) {
	if f.gone(ctx, false, b, how); b.err == nil && (b.done < len(b.indices) || len(b.indices) == 0) {
		b.tryAgain("the filter expired")
		b.again = b.err == nil
	}
}

// askClock asks for the server's clock and the header, by open.lua. It returns the generation by that clock and the
// time of the last add. ok is false if there was an error or the value is gone; then askClock has changed the batch.
func (f *handle) askClock(ctx context.Context, b *batch) (l look, ok bool) {
	v, sent := b.value, elapsed()
	is, err := f.opened(f.open(ctx, false, []*shard{b.shard}, found{})[0])
	switch {
	case err != nil && !errors.Is(err, ErrMismatch):
		b.err = err
		return l, false
	case err != nil || is.state != 'w' || is.epoch() != v.epoch:
		f.goneAtLookup(ctx, b, isGone)
		return l, false
	}
	v.hear(is.us, sent)
	now := known{state: is.State.whole(), shift: is.Shift.whole(), time: time.Duration(is.us) * time.Microsecond}
	l = look{f.plan.mode.expect(now), is.Added.whole()}
	v.looked.Store(&l)
	return l, true
}

// readDouble decodes a number that a script has written and BITFIELD_RO has read.
func readDouble(value int64) double {
	return double(math.Float64frombits(bits.ReverseBytes64(uint64(value))))
}
