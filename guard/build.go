package guard

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/persist"
)

// Open makes the Guard ready. If there is a file, Open reads it and lists the keys that were put since it was saved.
// The filter then has the n and p of the file. If there is no file, Open lists all keys of the store. [Guard.Metrics]
// shows the progress.
//
// Open returns any error from ctx, the store or the operating system, and the errors of [bloom.Read] if the file is
// bad. An error leaves the Guard as it was. Call Open again, or [Guard.Rebuild]: it does not read the file.
func (g *Guard) Open(ctx context.Context) error { return g.open(ctx, nil) }

// open does the work of Open. If bad is not nil, open calls it with the error of a bad file, and continues without the
// file.
func (g *Guard) open(ctx context.Context, bad func(error)) error {
	if err := take(ctx, g.turn); err != nil {
		return err
	}
	defer give(g.turn)
	if g.path != "" {
		s, err := persist.LoadWith(g.path, read, g.opts...)
		if err == nil {
			return g.build(ctx, s.layer, s.position)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if bad == nil {
				return err
			}
			bad(err)
		}
	}
	return g.scan(ctx, g.n, g.p)
}

// Keep opens the Guard and saves it at every interval until ctx is done. Then it saves once more, for at most one
// interval, and returns the error of ctx. Before a save, Keep rebuilds a filter that has more than n keys:
//
//   - In most cases, the new filter is for twice as many keys as the old one has.
//   - If the filter has grown before, and the last list of all keys had fewer than n/3 keys, then most keys of the
//     filter have been deleted. The new filter has the size of the old one.
//
// Keep calls report after each save, with the position that was saved, and for each error. It retries a failed step
// after the interval. It reports a bad file and replaces it with one built from all keys of the store. If a larger
// filter would exceed [bloom.WithMaxBytes], Keep reports that once and keeps the full one. Without a path it saves
// nothing and reports only errors.
//
// The error wraps [bloom.ErrInvalid] if the interval is not above 0.
func (g *Guard) Keep(ctx context.Context, every time.Duration, report func(position []byte, err error)) error {
	if every <= 0 {
		return failure.Errorf(bloom.ErrInvalid, "an interval of %v, want more than 0", every)
	}
	failed := func(err error) { report(nil, err) }
	noRoom := false // the last step failed with bloom.ErrTooLarge
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		err := error(nil)
		if g.Ready() {
			err = g.grow(ctx)
		} else {
			err = g.open(ctx, failed)
		}
		tooLarge := errors.Is(err, bloom.ErrTooLarge)
		if err != nil && !(tooLarge && noRoom) {
			failed(err)
		}
		noRoom = tooLarge
		if g.Ready() && g.path != "" {
			report(g.Save(ctx))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	if g.Ready() && g.path != "" {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), every)
		defer cancel()
		report(g.Save(last))
	}
	return ctx.Err()
}

// grow rebuilds a full filter, by the rules of Keep. Only a list of all keys shows how many keys were deleted, but the
// size of the new filter must be chosen before. So grow uses the length of the previous list.
func (g *Guard) grow(ctx context.Context) error {
	l := g.state.Load().current
	n, p, keys := l.Params().N, l.Params().P, l.keys.Load()
	if keys <= n {
		return nil
	}
	if n > g.n && l.listed < n/3 {
		return g.Rebuild(ctx, n, p)
	}
	err := g.Rebuild(ctx, 2*keys, p)
	if errors.Is(err, bloom.ErrTooLarge) && l.listed < n/2 { // most of the filter's keys were deleted
		return g.Rebuild(ctx, n, p)
	}
	return err
}

// Rebuild builds a filter for n keys and rate p from all keys of the store, and replaces the old one. Use it after many
// deletes, if the filter is too full, or for another p. [Guard.Metrics] shows when: after many deletes,
// false_positive_rate is several times p; in a full filter, added_keys is more than the N of Stats. Lookups and puts
// continue during the build. Concurrent calls build one after the other.
//
// Rebuild returns any error from ctx, the store or [bloom.New]; then the old filter stays.
func (g *Guard) Rebuild(ctx context.Context, n uint64, p float64) error {
	if err := take(ctx, g.turn); err != nil {
		return err
	}
	defer give(g.turn)
	return g.scan(ctx, n, p)
}

// take waits for the token of a channel, the right to build or to save. For a zero Guard, it returns an error.
func take(ctx context.Context, turn chan struct{}) error {
	if turn == nil {
		return failure.Errorf(bloom.ErrInvalid, "the zero guard.Guard, want one of New")
	}
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

// scan builds a filter from all keys.
func (g *Guard) scan(ctx context.Context, n uint64, p float64) error {
	f, err := bloom.New(n, p, g.opts...)
	if err != nil {
		return err
	}
	return g.build(ctx, newLayer(f, 0), nil)
}

// build adds the keys that were put after the position since to a filter, and makes it the current one. See state.
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
	g.uncertainMu.Lock()
	for key := range g.uncertain {
		l.AddString(key)
	}
	g.uncertainMu.Unlock()
	done = true
	g.publish(newState(l, nil))
	return nil
}

// publish replaces the state, and retires the old one.
func (g *Guard) publish(s *state) { g.retired = append(g.retired, g.state.Swap(s).puts) }

// list adds the keys that were put after the position since to a filter.
func (g *Guard) list(ctx context.Context, l *layer, since []byte) error {
	const often = 256 // keys between two checks of ctx, so that the checks cost little
	keys, added := uint64(0), uint64(0)
	defer func() {
		l.keys.Add(added)
		g.scanned.Store(keys)
		if len(since) == 0 {
			l.listed = keys
		}
	}()
	iterator := g.store.Keys(ctx, since)
	if iterator == nil {
		return failure.Errorf(bloom.ErrInvalid, "Keys of the store returned a nil iterator")
	}
	for key, err := range iterator {
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
	return ctx.Err() // an iterator that ends because of ctx may yield no error
}
