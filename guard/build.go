package guard

import (
	"context"
	"errors"
	"io/fs"

	"github.com/seed3447c163/bloom"
)

// Open makes the Guard ready. If there is a file, it reads that and the keys that were
// put since it was saved, and the filter is the file's, with its n and p; if there is
// none, all keys of the store. [Counts] shows how far it is.
//
// The error is that of ctx, of the store or of the operating system, or, if the file
// is bad, that of [bloom.Read]. The Guard is then as it was before, and Open or
// [Guard.Rebuild], which does not need the file, may be tried again.
func (g *Guard) Open(ctx context.Context) error {
	if err := take(ctx, g.turn); err != nil {
		return err
	}
	defer give(g.turn)
	if g.path != "" {
		l, position, err := load(g.path, g.opts.bloom)
		if err == nil {
			return g.build(ctx, l, position)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return g.scan(ctx, g.n, g.p)
}

// Rebuild builds a filter for n keys and rate p of all keys of the store, and puts it
// in the place of the old one: after many deletes, when it is too full, or for another
// p. Of several that build at the same time, one after the other does.
//
// The error is that of ctx, of the store or of [bloom.New]; then the old filter stays.
func (g *Guard) Rebuild(ctx context.Context, n uint64, p float64) error {
	if err := take(ctx, g.turn); err != nil {
		return err
	}
	defer give(g.turn)
	return g.scan(ctx, n, p)
}

// take waits for a token, the turn to build or to save.
func take(ctx context.Context, turn chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func give(turn chan struct{}) { turn <- struct{}{} }

// scan builds from all keys.
func (g *Guard) scan(ctx context.Context, n uint64, p float64) error {
	f, err := bloom.New(n, p, g.opts.bloom...)
	if err != nil {
		return err
	}
	return g.build(ctx, newLayer(f, 0), nil)
}

// build adds the keys since a position to a filter and puts it in the place of the one
// that is asked. See state.
func (g *Guard) build(ctx context.Context, l *layer, since []byte) (err error) {
	g.scanned.Store(0)
	before := g.state.Load()
	g.publish(newState(before.current, l))
	done := false
	defer func() {
		if !done { // also if the store panics
			g.publish(newState(before.current, nil))
		}
	}()
	for len(g.retired) > 0 {
		if err := g.retired[0].wait(ctx); err != nil {
			return err
		}
		g.retired = g.retired[1:]
	}
	if err := g.list(ctx, l, since); err != nil {
		return err
	}
	done = true
	g.publish(newState(l, nil))
	g.builds.Add(1)
	g.tell(l)
	return nil
}

// publish replaces the state.
func (g *Guard) publish(s *state) { g.retired = append(g.retired, g.state.Swap(s).puts) }

// list adds the keys since a position to a filter.
func (g *Guard) list(ctx context.Context, l *layer, since []byte) error {
	const often = 256 // lookups of ctx and progress cost nothing then
	keys, added := uint64(0), uint64(0)
	defer func() {
		l.keys.Add(added)
		g.scanned.Store(keys)
	}()
	for key, err := range g.store.Keys(ctx, since) {
		if err != nil {
			return err
		}
		if l.Add(key) {
			added++
		}
		if keys++; keys%often == 0 {
			g.scanned.Store(keys)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return ctx.Err() // an iterator that ends because of ctx may not say so
}
