package redisfilter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A group sends calls for single keys of a shard. Up to sideBySide commands run at the same time, each for one call.
// Further calls wait until a command returns, and are then sent together in one command: one round trip instead of one
// per goroutine.
type group struct {
	handle *handle
	shard  *shard
	add    bool

	mu       sync.Mutex
	underWay int      // running commands, at most sideBySide
	pending  *waiters // waiting calls, or nil
}

// sideBySide is the number of commands of a group that run at the same time.
const sideBySide = 4

// waiters are calls that are sent together.
type waiters struct {
	ctx   context.Context // of the first call, without its cancellation
	batch *batch
	calls []context.Context // one per key
	left  []bool            // true for keys that begin dropped; nil before the command is made
	done  chan struct{}     // closed when the batch is done
}

func (g *group) do(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, g.notSent(err)
	}
	g.mu.Lock()
	if g.underWay >= sideBySide {
		return g.wait(ctx, key, positions)
	}
	g.underWay++
	g.mu.Unlock()
	defer g.returned()
	b := g.newBatch()
	b.indices, b.keys, b.positions = []int{0}, [][]byte{key}, positions
	g.round(ctx, b)
	return g.result(b, 0)
}

func (g *group) newBatch() *batch {
	return &batch{shard: g.shard, k: g.handle.plan.scheme.Params().K}
}

func (g *group) round(ctx context.Context, b *batch) {
	b.answers, b.fates = make([]bool, len(b.indices)), make([]fate, len(b.indices))
	g.handle.round(ctx, g.add, []*batch{b})
}

// wait adds the call to the waiting ones, and waits for its answer. The caller holds g.mu, which wait unlocks.
func (g *group) wait(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if g.pending == nil {
		g.pending = &waiters{ctx: context.WithoutCancel(ctx), batch: g.newBatch(), done: make(chan struct{})}
	}
	mine := g.pending
	i := len(mine.calls)
	mine.calls = append(mine.calls, ctx)
	mine.batch.indices = append(mine.batch.indices, i)
	mine.batch.keys = append(mine.batch.keys, slices.Clone(key)) // the call may have ended when the command is sent
	mine.batch.positions = append(mine.batch.positions, positions...)
	if i+1 == send.BatchKeys { // full: the next call begins another
		g.underWay++
		g.pending = nil
		go g.run(mine)
	}
	g.mu.Unlock()
	select {
	case <-mine.done:
		return g.result(mine.batch, i)
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if mine.left == nil || mine.left[i] || !g.add {
		return false, g.notSent(fmt.Errorf("stopped waiting behind %d other calls: %w", sideBySide, ctx.Err()))
	}
	g.handle.sender.Counts.Unsure.Add(1)
	return true, addError([]fate{unsure}, send.Explain(g.shard.name, fmt.Errorf("stopped waiting with other calls: %w", ctx.Err())))
}

// begin drops the keys of calls that have ended, if no command was made yet. It returns the number of keys left.
func (g *group) begin(mine *waiters) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, n := mine.batch, 0
	if mine.left != nil {
		return len(b.indices)
	}
	mine.left = make([]bool, len(mine.calls))
	for i, ctx := range mine.calls {
		if mine.left[i] = ctx.Err() != nil; !mine.left[i] {
			b.indices[n], b.keys[n] = i, b.keys[i]
			copy(b.positions[n*b.k:], b.positionsOf(i))
			n++
		}
	}
	b.indices, b.keys, b.positions = b.indices[:n], b.keys[:n], b.positions[:n*b.k]
	return n
}

// returned is called when a command has returned. It sends the waiting calls.
func (g *group) returned() {
	g.mu.Lock()
	next := g.pending
	if next == nil {
		g.underWay--
	}
	g.pending = nil
	g.mu.Unlock()
	if next != nil {
		go g.run(next)
	}
}

// run sends waiting calls.
func (g *group) run(mine *waiters) {
	defer g.returned()
	mine.batch.begin = func() int { return g.begin(mine) }
	g.round(mine.ctx, mine.batch)
	close(mine.done)
}

// result returns the answer and the error for key i of a batch that is done.
func (g *group) result(b *batch, i int) (answer bool, err error) {
	switch b.fates[i] {
	case answered:
		err = b.warning
	case refused:
		err = b.full
	default:
		err = cmp.Or(b.err, b.warning)
	}
	if err = send.Explain(g.shard.name, err); g.add {
		err = addError(b.fates[i:i+1], err)
	}
	return b.answers[i], err
}

// notSent returns the error of a call whose context ended before anything was sent.
func (g *group) notSent(err error) error {
	if err = send.Explain(g.shard.name, err); g.add {
		err = addError([]fate{notAdded}, err)
	}
	return err
}
