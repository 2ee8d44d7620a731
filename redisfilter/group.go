package redisfilter

import (
	"context"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A group sends calls for single keys of a shard. While few are under way, each call is sent by
// itself at once. Under load, calls wait until one of those returns, and then all that have arrived go in
// one command: one round trip instead of one per goroutine.
type group struct {
	shard  *shard
	add    bool
	k      int // positions per key
	sender *send.Sender
	round  func(ctx context.Context, b *batch, answers []bool)

	mu       sync.Mutex
	underWay int      // commands, at most one per lane
	pending  *waiters // calls that wait
}

// waiters are calls that are sent together.
type waiters struct {
	ctx     context.Context // of the first one, without its end
	batch   *batch
	waiting int
	done    chan struct{} // closed when the following are set
	answers []bool
	err     []error
}

func (g *group) do(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, g.notSent(err)
	}
	g.mu.Lock()
	if g.underWay >= lanesPerSlot {
		return g.wait(ctx, key, positions)
	}
	g.underWay++
	g.mu.Unlock()
	defer g.returned()
	b := g.newBatch()
	b.indices, b.keys, b.positions = []int{0}, [][]byte{key}, positions
	answers := make([]bool, 1)
	g.round(ctx, b, answers)
	return answers[0], g.errorOf(b, 0)
}

func (g *group) newBatch() *batch { return &batch{shard: g.shard, k: g.k} }

// wait joins the group that waits, and waits for its answer. It is called with the lock held.
func (g *group) wait(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if g.pending == nil {
		g.pending = &waiters{ctx: context.WithoutCancel(ctx), batch: g.newBatch(), done: make(chan struct{})}
	}
	mine := g.pending
	i := len(mine.batch.indices)
	mine.batch.indices = append(mine.batch.indices, i)
	mine.batch.keys = append(mine.batch.keys, slices.Clone(key)) // the caller may be gone when it is sent
	mine.batch.positions = append(mine.batch.positions, positions...)
	mine.waiting++
	if i+1 == send.BatchKeys { // full: the next call begins another
		g.underWay++
		g.pending = nil
		go g.run(mine)
	}
	g.mu.Unlock()
	select {
	case <-mine.done:
		return mine.answers[i], mine.err[i]
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if mine == g.pending {
		if mine.waiting--; mine.waiting == 0 {
			g.pending = nil
			return false, g.notSent(ctx.Err())
		}
	}
	err := g.sender.Stopped(ctx, g.shard.name)
	if !g.add {
		return false, err
	}
	// The key goes with the others.
	g.sender.Counts.Unknown.Add(1)
	return false, &AddError{Unknown: []int{0}, Err: err}
}

// returned is called when a command has returned.
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

// run sends a group.
func (g *group) run(mine *waiters) {
	defer g.returned()
	n := len(mine.batch.indices)
	mine.answers, mine.err = make([]bool, n), make([]error, n)
	g.round(mine.ctx, mine.batch, mine.answers)
	for i := range n {
		mine.err[i] = g.errorOf(mine.batch, i)
	}
	close(mine.done)
}

// errorOf returns the error for the key at an index of a part.
func (g *group) errorOf(b *batch, i int) error {
	if b.err == nil && b.warning == nil {
		return nil
	}
	var e AddError
	switch {
	case i >= b.done && !g.add:
		return b.err
	case i >= b.done:
		e.NotAdded, e.Err = []int{0}, b.err
	case slices.Contains(b.unknown, i):
		g.sender.Counts.Unknown.Add(1)
		e.Unknown, e.Err = []int{0}, b.err
	case slices.Contains(b.unconfirmed, i):
		e.Unconfirmed, e.Err = []int{0}, b.warning
	default:
		return nil
	}
	return &e
}

// notSent returns the error of a call whose context ended before anything was sent.
func (g *group) notSent(err error) error {
	err = send.Explain(g.shard.name, err)
	if !g.add {
		return err
	}
	return &AddError{NotAdded: []int{0}, Err: err}
}
