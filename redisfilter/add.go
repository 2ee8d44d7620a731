package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// add sends one command for each batch that gets a lane, and returns when each has an answer or an error. It sends a
// command again, with the same number, if no reply came, if the value has another state, or if another handle has taken
// the slot. The server executes each number at most once.
func (f *handle) add(ctx context.Context, batches []*batch) {
	held := takeLanes(ctx, batches)
	defer func() {
		for _, b := range held {
			b.giveUp(f)
			b.value.slot.release(b.ticket)
		}
	}()
	patience := send.NewPatience()
	for todo := held; len(todo) > 0; {
		f.own(ctx, todo)
		f.sendAdds(ctx, todo)
		var next []*batch
		lost := false
		for _, b := range todo {
			switch {
			case b.resend:
				next = append(next, b)
			case b.lost != nil && b.err != nil && !errors.Is(b.err, ErrLost) && !send.Final(b.err) && patience.Left(ctx):
				next, lost, b.err = append(next, b), true, nil
			}
		}
		if todo = next; lost {
			patience.Sleep(ctx)
		}
	}
}

// takeLanes returns the batches that get a lane. If none gets one, it waits for a lane for the first batch.
func takeLanes(ctx context.Context, batches []*batch) (held []*batch) {
	for _, b := range batches {
		var ok bool
		if b.ticket, ok = b.value.slot.take(); ok {
			held = append(held, b)
		}
	}
	if len(held) > 0 {
		return held
	}
	b := batches[0]
	if b.ticket, b.err = b.value.slot.wait(ctx); b.err != nil {
		return nil
	}
	return batches[:1]
}

// own sets the record of each batch. If the handle owns no slot of the batch's value, own claims one.
func (f *handle) own(ctx context.Context, batches []*batch) {
	var all sync.WaitGroup
	for _, b := range batches {
		if b.record = b.value.slot.record.Load(); !owns(b.record) {
			all.Add(1)
			go func() {
				defer all.Done()
				b.record, b.err = f.claim(ctx, b.shard, b.value, b.record)
			}()
		}
	}
	all.Wait()
}

// sendAdds sends the commands of all batches together, and reads the replies.
func (f *handle) sendAdds(ctx context.Context, batches []*batch) {
	var requests []*request
	var sent []*batch
	for _, b := range batches {
		b.resend = false
		if b.err != nil || b.begin != nil && b.begin() == 0 {
			continue
		}
		var r *request
		if r, b.err = f.request(b); b.err == nil {
			requests, sent = append(requests, r), append(sent, b)
		}
	}
	now := elapsed()
	f.exec(ctx, requests...)
	for i, b := range sent {
		f.added(b, requests[i], now)
	}
}

// request makes the command for the next keys of a batch, or for its piece.
func (f *handle) request(b *batch) (*request, error) {
	r := &request{keys: []string{b.shard.name}, script: addScript, add: true}
	r.args = b.ticket.args(b.value.epoch, b.value.slot.tag, b.record)
	if b.merge != nil {
		r.keys = append(r.keys, b.merge.temporary[:]...)
		r.args = append(r.args, b.merge.bits, 0, 0, "m", b.merge.at)
		return r, nil
	}
	layers, args, err := b.value.plan.mode.adding(b.value.known(), b.state, b.value.slot.stamp())
	if err != nil {
		return nil, err
	}
	keys := b.next() - b.done
	data, words := b.pack(f.plan.scheme, layers, b.done, b.next())
	r.args = append(append(r.args, data, keys, words), args...)
	f.sender.Counts.Keys.Add(uint64(keys))
	return r, nil
}

// added reads the reply to an add. sent is the local time when it was sent. added sets b.resend if the command is to be
// sent again at once.
func (f *handle) added(b *batch, r *request, sent time.Duration) {
	text, err := reply[string](r)
	switch send.Code(err) {
	case send.More:
		state, ok := numberIn(err)
		if _, impossible := b.value.plan.mode.reading(state); !ok || state == b.state || impossible != nil {
			b.err = f.onLost(b.value, isOlder)
			return
		}
		raise(&b.value.state, state)
		b.state = state
		b.value.hear(0, sent)
		b.tryAgain("a generation ended")
		return
	case send.Taken:
		b.value.slot.record.CompareAndSwap(b.record, otherHalf(b.record))
		b.tryAgain("another handle took the slot")
		return
	case send.Late:
		b.executed(err)
		b.tryAgain("no reply came")
		return
	}
	var answers addReply
	if err == nil {
		answers, err = decodeAdded(text, b.next()-b.done)
	}
	if err != nil {
		if !r.call.NotExecuted() && !send.Raised(err) { // add.lua fails only before it stores the number
			b.lost = err
		}
		b.err = f.refused(b.value, err)
		return
	}
	b.value.slot.confirm(b.ticket)
	b.value.hear(answers.us, sent)
	raise(&b.value.state, b.state)
	f.settleAdded(b, answers, f.sender.Confirmed(r.call))
}

// settleAdded sets the answer and the fate of each key that the server has processed. warning is an error if too few
// replicas have confirmed these keys, otherwise nil.
func (f *handle) settleAdded(b *batch, r addReply, warning error) {
	fate := answered
	if warning != nil {
		fate, b.warning = unconfirmed, warning
	}
	first, last := b.done, b.next()
	for i := range r.keys {
		b.answers[b.indices[first+i]] = b.won || r.bits[i/8]>>(i%8)&1 == 1
		if fate == answered {
			b.value.cache.learn(b.positionsOf(first + i))
		}
	}
	b.settle(f, first+r.keys, fate)
	for i := first; i < min(b.done, b.unclear); i++ {
		if !b.answers[b.indices[i]] {
			b.fates[b.indices[i]], b.doubt = present, b.cause
			f.sender.Counts.Unknown.Add(1)
		}
	}
	for _, i := range r.refused {
		b.fates[b.indices[first+i]] = refused
		b.full = b.value.plan.mode.full(b.value.known(), b.state)
	}
	b.lost, b.won = nil, false
	if b.done < last {
		b.state++ // the newest layer is full
	}
}

// executed is called when the server has executed the batch's number before, by a command whose reply was lost. So the
// keys that had room are in the filter, but their answers are lost. The keys are added again with the next number. A
// key that is new then was not added before. A key that is not new was present before, or the first command added it.
func (b *batch) executed(late error) {
	b.value.slot.confirm(b.ticket)
	b.ticket = b.value.slot.ticket(b.ticket.lane)
	if b.lost == nil {
		b.lost = late
	}
	switch news, _ := numberIn(late); {
	case news == 0: // all keys were present before, so the answers will be right
	case b.next()-b.done == 1:
		b.won = true
	default:
		b.unclear, b.cause = b.next(), b.lost
	}
}

// tryAgain lets a command be sent again, at most ten times.
func (b *batch) tryAgain(why string) {
	if b.repacked++; b.repacked > 10 {
		b.err = fmt.Errorf("%s during each of %d attempts to add", why, b.repacked)
	}
	b.resend = b.err == nil
}

// giveUp sets the fate of the keys of a failed command to unknown if the server may have executed it.
func (b *batch) giveUp(f *handle) {
	if b.err == nil || b.lost == nil {
		return
	}
	if !errors.Is(b.err, b.lost) {
		b.err = fmt.Errorf("%w, after %w", b.err, b.lost)
	}
	b.settle(f, b.next(), unknown)
}

// An addReply is the reply to an add.
type addReply struct {
	us      float64 // the server's clock
	keys    int     // number of keys that the server processed
	bits    string  // one bit per key: 1 if it is new
	refused []int   // indices of the keys that found no room
}

// decodeAdded reads the reply to an add of n keys.
func decodeAdded(reply string, n int) (r addReply, err error) {
	if len(reply) >= 10 {
		b := []byte(reply[:10])
		r.us, r.keys = math.Float64frombits(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint16(b[8:]))
		end := 10 + (r.keys+7)/8
		if r.us >= 0 && r.us < maxExact && r.keys <= n && len(reply) >= end && (len(reply)-end)%2 == 0 {
			r.bits = reply[10:end]
			for ; end < len(reply); end += 2 {
				if i := int(reply[end]) | int(reply[end+1])<<8; i < r.keys {
					r.refused = append(r.refused, i)
				}
			}
			return r, nil
		}
	}
	return addReply{}, fmt.Errorf("a reply of %d bytes to %d keys, want 10, a bit for each and two bytes for each without room", len(reply), n)
}
