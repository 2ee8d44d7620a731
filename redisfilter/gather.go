package redisfilter

import (
	"context"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A gather sends calls for single keys. As long as few are under way, each is sent by
// itself, at once. Under load, calls wait until one of those returns, and then all that
// have come meanwhile go in one command: a round trip and the server's time for one
// command, in place of as many as there are goroutines. BenchmarkGoroutines.
type gather struct {
	filter *Filter
	add    bool

	mu      sync.Mutex
	flying  int    // commands under way
	pending *group // calls that wait
}

// flyingMost is how many commands may be under way before calls wait: for fewer
// goroutines it is faster not to.
const flyingMost = 4

// A group is calls that are sent together.
type group struct {
	ctx       context.Context // of the first one, without its end
	positions []uint64
	waiting   int
	done      chan struct{} // closed when the following are set
	answers   []bool
	errs      []error
}

func (g *gather) init(f *Filter, add bool) { g.filter, g.add = f, add }

// do is Add or Contains.
func (g *gather) do(ctx context.Context, key []byte) (answer bool, err error) {
	f := g.filter
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.positions = f.appendPositions(s.positions[:0], key)
	if f.shards[shardOf(s.positions, len(f.shards))].life.Load().knows(s.positions) {
		f.counts.FrontHits.Add(1)
		return !g.add, nil
	}
	if err := ctx.Err(); err != nil {
		return false, g.notSent(err)
	}

	g.mu.Lock()
	if g.flying >= flyingMost {
		return g.wait(ctx, s.positions)
	}
	g.flying++
	g.mu.Unlock()
	defer g.landed()
	s.one[0] = false
	parts := f.round(ctx, g.add, s.positions, s.one[:])
	defer release(parts)
	if len(parts) > 0 && parts[0].err != nil {
		return s.one[0] && (!g.add || parts[0].unconfirmed), g.errorOf(parts[0])
	}
	return s.one[0], nil
}

// wait joins the group that waits, and waits for its answer. It is called with the lock
// held.
func (g *gather) wait(ctx context.Context, positions []uint64) (bool, error) {
	if g.pending == nil {
		g.pending = &group{ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
	}
	mine := g.pending
	i := len(mine.positions) / g.filter.k
	mine.positions = append(mine.positions, positions...)
	mine.waiting++
	if i+1 == batchKeys { // full: the next call begins another
		g.flying++
		g.pending = nil
		go g.run(mine)
	}
	g.mu.Unlock()
	select {
	case <-mine.done:
		return mine.answers[i], mine.errs[i]
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
	if !g.add {
		return false, send.Explain(g.filter.key, ctx.Err())
	}
	// The key goes with the others.
	g.filter.counts.Unknown.Add(1)
	return false, &AddError{Unknown: []int{0}, Err: send.Explain(g.filter.key, ctx.Err())}
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
func (g *gather) run(group *group) {
	defer g.landed()
	n := len(group.positions) / g.filter.k
	group.answers, group.errs = make([]bool, n), make([]error, n)
	parts := g.filter.round(group.ctx, g.add, group.positions, group.answers)
	defer release(parts)
	for _, p := range parts {
		if p.err != nil {
			err := g.errorOf(p)
			for _, i := range p.keys {
				group.errs[i] = err
			}
		}
	}
	close(group.done)
}

// errorOf returns the error of a part for each of its keys alone.
func (g *gather) errorOf(p *part) error {
	if !g.add {
		return p.err
	}
	var e AddError
	e.note(&part{err: p.err, refused: p.refused, unconfirmed: p.unconfirmed, command: p.command, keys: []int{0}}, 0)
	g.filter.counts.Unknown.Add(uint64(len(e.Unknown)))
	return &e
}

// notSent returns the error of a call whose context ended before anything was sent.
func (g *gather) notSent(err error) error {
	err = send.Explain(g.filter.key, err)
	if !g.add {
		return err
	}
	return &AddError{NotAdded: []int{0}, Err: err}
}
