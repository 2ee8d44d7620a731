package redisfilter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A queue sends calls for single keys of a shard. Up to sideBySide commands run at the same time, each for one call.
// Further calls wait until a command returns, and are then sent together in one command: one round trip instead of one
// per goroutine. After a command without a reply, the next one has a single call, so that a server that hangs leaves
// few keys unsure.
type queue struct {
	handle *handle
	shard  *shard
	add    bool

	mu       sync.Mutex
	underWay int       // running commands, at most sideBySide
	silent   bool      // the last command that returned has no reply
	waiting  []*waiter // in order of arrival
}

// sideBySide is the number of commands of a queue that run at the same time.
const sideBySide = 4

// A waiter is a call whose key waits until a command of the queue has returned.
type waiter struct {
	ctx       context.Context
	key       []byte
	positions []uint64
	sent      bool          // its command was made, or is about to be made
	done      chan struct{} // closed when the following fields are set
	answer    bool
	fate      fate
	err       error
}

// do adds or looks up a key.
func (q *queue) do(ctx context.Context, key []byte, positions []uint64) (bool, fate, error) {
	if err := ctx.Err(); err != nil {
		return false, notAdded, err
	}
	q.mu.Lock()
	if q.underWay >= sideBySide {
		return q.wait(ctx, key, positions)
	}
	q.underWay++
	q.mu.Unlock()
	b := &batch{indices: []int{0}, keys: [][]byte{key}, positions: positions}
	q.send(ctx, b)
	return result(b, 0)
}

// wait puts the call into the queue and waits for its answer. The caller holds q.mu; wait unlocks it.
func (q *queue) wait(ctx context.Context, key []byte, positions []uint64) (bool, fate, error) {
	// The waiter has copies, because the call may have ended when the command is sent.
	w := &waiter{ctx: ctx, key: slices.Clone(key), positions: slices.Clone(positions), done: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	select {
	case <-w.done:
		return w.answer, w.fate, w.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.sent || !q.add {
		return false, notAdded, fmt.Errorf("stopped waiting behind %d other calls: %w", sideBySide, ctx.Err())
	}
	return true, unsure, fmt.Errorf("stopped waiting with other calls: %w", ctx.Err())
}

// send sends a batch, whose command is counted in underWay already. Then it starts a goroutine that sends the waiting
// calls.
func (q *queue) send(ctx context.Context, b *batch) {
	b.shard, b.k = q.shard, q.handle.plan.scheme.Params().K
	b.answers, b.fates = make([]bool, len(b.indices)), make([]fate, len(b.indices))
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.silent = b.err != nil && send.Reply(b.err) == ""
		if next := q.next(); len(next) > 0 {
			go q.sendTogether(next)
		} else {
			q.underWay--
		}
	}()
	q.handle.round(ctx, q.add, []*batch{b})
}

// next takes the calls of the next command from the queue, and drops calls that have ended. The caller holds q.mu.
func (q *queue) next() (calls []*waiter) {
	most := send.BatchKeys
	if q.silent {
		most = 1
	}
	for len(q.waiting) > 0 && len(calls) < most {
		w := q.waiting[0]
		q.waiting[0], q.waiting = nil, q.waiting[1:]
		if w.ctx.Err() == nil {
			w.sent = true
			calls = append(calls, w)
		}
	}
	return calls
}

// sendTogether sends calls in one command. The command continues if the context of a call ends.
func (q *queue) sendTogether(calls []*waiter) {
	b := &batch{}
	for i, w := range calls {
		b.indices, b.keys, b.positions = append(b.indices, i), append(b.keys, w.key), append(b.positions, w.positions...)
	}
	q.send(context.WithoutCancel(calls[0].ctx), b)
	for i, w := range calls {
		w.answer, w.fate, w.err = result(b, i)
		close(w.done)
	}
}

// result returns the answer, the fate and the error of key i of a batch that is done.
func result(b *batch, i int) (answer bool, fate fate, err error) {
	switch fate = b.fates[i]; fate {
	case answered, unconfirmed:
		err = b.warning
	case refused:
		err = b.full
	default:
		err = cmp.Or(b.err, b.warning)
	}
	return b.answers[i], fate, err
}
