package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// add sends a command that adds for each batch that gets a lane.
func (f *Filter) add(ctx context.Context, batches []*batch, answers []bool) {
	held := takeLanes(ctx, batches)
	defer func() {
		for _, b := range held {
			b.slot.release(b.ticket)
		}
	}()
	var requests []*request
	var sent []*batch
	for _, b := range held {
		layers, args, err := f.plan.mode.adding(b.value.known(), b.state, b.slot.stamp())
		if err != nil {
			b.err = fmt.Errorf("%w: key %q", err, b.shard.name)
			continue
		}
		data, words := b.pack(f.plan.scheme, layers, b.done, b.next())
		args = append(append(b.slot.args(b.value.epoch, b.ticket), data, b.next()-b.done, words), args...)
		f.count(b.next()-b.done, 170+len(data))
		requests = append(requests, &request{shard: b.shard, script: addScript, args: args, once: true, add: true})
		sent = append(sent, b)
	}
	if len(requests) == 0 {
		return
	}
	f.exec(ctx, requests...)
	for i, b := range sent {
		f.added(b, requests[i], answers)
	}
}

// takeLanes returns the batches that get a lane. If none does, it waits for one, and holds none while it waits.
func takeLanes(ctx context.Context, batches []*batch) (held []*batch) {
	for _, b := range batches {
		var ok bool
		if b.ticket, ok = b.slot.take(); ok {
			held = append(held, b)
		}
	}
	if len(held) > 0 {
		return held
	}
	b := batches[0]
	if b.ticket, b.err = b.slot.wait(ctx); b.err != nil {
		b.err = send.Explain(b.shard.name, b.err)
		return nil
	}
	return batches[:1]
}

// added reads the reply to an add.
func (f *Filter) added(b *batch, r *request, answers []bool) {
	last := b.next()
	text, err := reply[string](r)
	if send.Code(err) == send.More {
		if state, ok := numberIn(err); ok && state != b.state && f.plan.mode.possible(state) {
			raise(&b.value.state, state)
			b.state = state
			b.value.hear(0)
			return
		}
		b.err = f.onLost(b.shard, b.value, isOlder)
		return
	}
	var done int
	var ms float64
	if err == nil {
		ms, done, err = decodeAdded(b.shard.name, text, last-b.done)
	} else if r.call.NotExecuted() {
		b.err = f.explain(b.shard, b.value, b.slot, err)
		return
	}
	if err != nil {
		b.err = f.explain(b.shard, b.value, b.slot, err)
		b.unknown = append(b.unknown, b.indices[b.done:last]...)
		b.done = last
		return
	}
	b.slot.confirm(b.ticket)
	b.value.hear(ms)
	raise(&b.value.state, b.state)
	confirmed := f.sender.Confirmed(r.call)
	for i := range done {
		answers[b.indices[b.done+i]] = text[10+i/8]>>(i%8)&1 == 1
		if confirmed == nil {
			b.value.cache.learn(b.positionsOf(b.done + i))
		}
	}
	if confirmed != nil {
		b.warning = confirmed
		b.unconfirmed = append(b.unconfirmed, b.indices[b.done:b.done+done]...)
	}
	b.done += done
	if b.done < last {
		if b.state, err = f.plan.mode.full(b.value.known(), b.state); err != nil {
			b.err = fmt.Errorf("%w: key %q", err, b.shard.name)
		}
	}
}

// decodeAdded reads the numbers of a reply to an add of n keys.
func decodeAdded(key, reply string, n int) (ms float64, done int, err error) {
	if len(reply) >= 10 {
		b := []byte(reply[:10])
		ms, done = math.Float64frombits(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint16(b[8:]))
		if ms >= 0 && ms < 1<<53 && done <= n && len(reply) == 10+(done+7)/8 {
			return ms, done, nil
		}
	}
	return 0, 0, fmt.Errorf("redisfilter: key %q: a reply of %d bytes to %d keys, want 10 and a bit for each", key, len(reply), n)
}
