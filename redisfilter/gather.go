package redisfilter

import (
	"context"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A gather sends calls for single keys of a shard. While few are under way, each call is sent by
// itself at once. Under load, calls wait until one of those returns, and then all that have arrived go in
// one command: one round trip instead of one per goroutine.
type gather struct {
	filter *Filter
	shard  *shard
	add    bool

	mu      sync.Mutex
	flying  int    // commands under way
	pending *group // calls that wait
}

// flyingMost is the number of commands under way before calls wait. For fewer goroutines, it is
// faster not to wait.
const flyingMost = 4

// A group is calls that are sent together.
type group struct {
	ctx     context.Context // of the first one, without its end
	part    *part
	waiting int
	done    chan struct{} // closed when the following are set
	answers []bool
	err     []error
}

// rooms are for the positions of single keys.
var rooms = sync.Pool{New: func() any { return new([]uint64) }}

// single is Add or Contains.
func (f *Filter) single(ctx context.Context, add bool, key []byte) (answer bool, err error) {
	room := rooms.Get().(*[]uint64)
	defer rooms.Put(room)
	*room = f.appendPositions((*room)[:0], key)
	s := f.shards[shardOf(*room, len(f.shards))]
	if s.life.Load().knows(*room) && !f.closed.Load() {
		f.sender.Counts.FrontHits.Add(1)
		return !add, nil
	}
	g := &s.asks
	if add {
		g = &s.adds
	}
	return g.do(ctx, key, *room)
}

func (g *gather) do(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, g.notSent(err)
	}
	g.mu.Lock()
	if g.flying >= flyingMost {
		return g.wait(ctx, key, positions)
	}
	g.flying++
	g.mu.Unlock()
	defer g.landed()
	p := g.newPart()
	p.indices, p.keys, p.positions = []int{0}, [][]byte{key}, positions
	answers := make([]bool, 1)
	g.filter.round(ctx, g.add, []*part{p}, answers)
	return answers[0], g.errorOf(p, 0)
}

func (g *gather) newPart() *part { return &part{shard: g.shard, k: g.filter.plan.scheme.Params().K} }

// wait joins the group that waits, and waits for its answer. It is called with the lock held.
func (g *gather) wait(ctx context.Context, key []byte, positions []uint64) (bool, error) {
	if g.pending == nil {
		g.pending = &group{ctx: context.WithoutCancel(ctx), part: g.newPart(), done: make(chan struct{})}
	}
	mine := g.pending
	i := len(mine.part.indices)
	mine.part.indices = append(mine.part.indices, i)
	mine.part.keys = append(mine.part.keys, slices.Clone(key)) // the caller may be gone when it is sent
	mine.part.positions = append(mine.part.positions, positions...)
	mine.waiting++
	if i+1 == send.BatchKeys { // full: the next call begins another
		g.flying++
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
	err := send.Explain(g.shard.name, ctx.Err())
	if !g.add {
		return false, err
	}
	// The key goes with the others.
	g.filter.sender.Counts.Unknown.Add(1)
	return false, &AddError{Unknown: []int{0}, Err: err}
}

// landed is called when a command has returned.
func (g *gather) landed() {
	g.mu.Lock()
	next := g.pending
	if next == nil {
		g.flying--
	}
	g.pending = nil
	g.mu.Unlock()
	if next != nil {
		go g.run(next)
	}
}

// run sends a group.
func (g *gather) run(mine *group) {
	defer g.landed()
	n := len(mine.part.indices)
	mine.answers, mine.err = make([]bool, n), make([]error, n)
	g.filter.round(mine.ctx, g.add, []*part{mine.part}, mine.answers)
	for i := range n {
		mine.err[i] = g.errorOf(mine.part, i)
	}
	close(mine.done)
}

// errorOf returns the error for the key at an index of a part.
func (g *gather) errorOf(p *part, i int) error {
	if p.err == nil && p.warning == nil {
		return nil
	}
	var e AddError
	switch {
	case i >= p.done && !g.add:
		return p.err
	case i >= p.done:
		e.NotAdded, e.Err = []int{0}, p.err
	case slices.Contains(p.unknown, i):
		g.filter.sender.Counts.Unknown.Add(1)
		e.Unknown, e.Err = []int{0}, p.err
	case slices.Contains(p.unconfirmed, i):
		e.Unconfirmed, e.Err = []int{0}, p.warning
	default:
		return nil
	}
	return &e
}

// notSent returns the error of a call whose context ended before anything was sent.
func (g *gather) notSent(err error) error {
	err = send.Explain(g.shard.name, err)
	if !g.add {
		return err
	}
	return &AddError{NotAdded: []int{0}, Err: err}
}
