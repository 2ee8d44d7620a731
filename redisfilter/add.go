package redisfilter

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// add sends the next command of each batch, and returns when each has a reply or an error. It sends a command again
// only if the server has not executed it, because the value has another state or has expired.
func (f *handle) add(ctx context.Context, batches []*batch) {
	for todo := batches; len(todo) > 0; {
		f.sendAdds(ctx, todo)
		var next []*batch
		for _, b := range todo {
			if b.resend {
				next = append(next, b)
			}
		}
		todo = next
	}
}

// sendAdds sends the commands of all batches together, and reads the replies.
func (f *handle) sendAdds(ctx context.Context, batches []*batch) {
	var requests []*request
	var sent []*batch
	for _, b := range batches {
		b.resend = false
		if b.err != nil {
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
		f.added(ctx, b, requests[i], now)
	}
}

// request makes the command for the next keys of a batch.
func (f *handle) request(b *batch) (*request, error) {
	layers, args, err := f.plan.mode.adding(b.value.known(), b.state)
	if err != nil {
		return nil, err
	}
	keys := b.next() - b.done
	data, words := b.pack(f.plan.scheme, layers, b.done, b.next())
	b.askCache()
	r := &request{keys: []string{b.shard.name}, script: addScript, add: true}
	r.args = append(append(f.epochArgs(b.value), data, keys, words), args...)
	f.sender.Counts.Keys.Add(uint64(keys))
	return r, nil
}

// epochArgs returns the first arguments of add.lua: the epoch, the offset of the epoch in the value, and whether
// replicas confirm the add.
func (f *handle) epochArgs(v *incarnation) []any {
	return []any{v.epoch, f.plan.end, f.sender.Replicas > 0}
}

// added reads the reply to an add. sent is the local time when the add was sent.
func (f *handle) added(ctx context.Context, b *batch, r *request, sent time.Duration) {
	text, err := reply[string](r)
	code := send.Code(err)
	if again := r.call.Repeated(); again != nil && err != nil {
		// The refusal of the repeated command says nothing about the first one.
		code, err = "", fmt.Errorf("%w, which failed: %w", again, err)
	}
	switch code {
	case send.More:
		state, ok := numberIn(err)
		if _, impossible := f.plan.mode.reading(state); !ok || state == b.state || impossible != nil {
			f.goneAtAdd(ctx, b, isOlder)
			return
		}
		raise(&b.value.state, state)
		b.state = state
		b.tryAgain("a generation ended")
		return
	case send.Gone:
		f.goneAtAdd(ctx, b, isGone)
		return
	case send.Older:
		f.goneAtAdd(ctx, b, isOlder)
		return
	}
	var answers addReply
	if err == nil {
		answers, err = decodeAdded(text, b.next()-b.done)
	}
	if err != nil {
		// add.lua raises errors before it writes.
		if b.err = err; r.call.Repeated() != nil || !r.call.NotExecuted() && !send.Raised(err) {
			b.settle(b.next(), unsure)
		}
		return
	}
	b.value.hear(answers.us, sent)
	raise(&b.value.state, b.state)
	f.settleAdded(b, answers, f.sender.Confirmed(r.call), r.call.Repeated(), sent)
}

// goneAtAdd calls the method gone for the batch of an add. If the value had expired, the command is sent again, to the
// next value.
func (f *handle) goneAtAdd(ctx context.Context, b *batch, how string) {
	if f.gone(ctx, true, b, how); b.err == nil {
		b.tryAgain("the filter expired")
	}
}

// settleAdded sets the answer and the fate of each key that the server has processed. warning is an error if too few
// replicas have confirmed these keys. repeated is an error if the client has sent the command twice: a key that is not
// new is unsure then, because the first command may have added it. sent is the local time when the command was sent.
func (f *handle) settleAdded(b *batch, r addReply, warning, repeated error, sent time.Duration) {
	b.warning = cmp.Or(b.warning, warning, repeated)
	first, last := b.done, b.next()
	for i := range r.keys {
		isNew := r.bits[i/8]>>(i%8)&1 == 1
		b.answers[b.indices[first+i]] = isNew
		f.compare(b, i, !isNew, sent)
		if warning == nil {
			b.value.cache.learn(b.positionsOf(first+i), sent)
		}
	}
	b.settle(first+r.keys, answered)
	for _, i := range b.indices[first:b.done] {
		switch {
		case repeated != nil && !b.answers[i]:
			b.answers[i], b.fates[i] = true, unsure
		case warning != nil && b.answers[i]:
			b.fates[i] = unconfirmed
		}
	}
	for _, i := range r.refused {
		b.fates[b.indices[first+i]], b.answers[b.indices[first+i]] = refused, false
		b.full = f.plan.mode.full(b.value.known(), b.state)
	}
	if b.done < last {
		b.state++ // the newest layer is full; the other keys go to the next one
	}
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
