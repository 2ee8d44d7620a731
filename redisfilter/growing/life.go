package growing

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A life is one incarnation of the key, from when it is made until it is lost.
type life struct {
	*onekey.Life
	expires time.Time     // zero for never
	layers  atomic.Uint64 // the most that were seen
}

// see notes that there are so many layers.
func (l *life) see(layers uint64) {
	for {
		before := l.layers.Load()
		if before >= layers || l.layers.CompareAndSwap(before, layers) {
			return
		}
	}
}

// Reopen goes on after [redisfilter.ErrLost], as [Open] would: it makes what is gone, empty and with
// one layer, and joins what others have made anew, or what is left after the server has gone back
// to an older value. If nothing is lost, it does nothing. Goroutines that share the filter may all
// call it.
func (f *Filter) Reopen(ctx context.Context) error {
	for range send.JoinTries {
		head, err := f.key.Read(ctx, 0, headerBytes)
		if err != nil {
			return err
		}
		if head == "" {
			if err := f.make(ctx); err != nil {
				return err
			}
			continue
		}
		h, ok := decodeHeader([]byte(head))
		if !ok {
			return f.key.Foreign()
		}
		err = f.join(ctx, h)
		if !errors.Is(err, redisfilter.ErrLost) {
			return err
		}
		// It is cut short, or was made anew just now.
		if _, err := f.key.Run(ctx, f.scripts.clear, h.epoch, f.endOf(h), f.endOf(h)+epochBytes-1, h.layers); err != nil {
			return f.key.Explain(nil, err)
		}
	}
	return fmt.Errorf("%w: key %q: made %d times, and each time evicted or deleted at once: give the server more memory", redisfilter.ErrLost, f.key.Name, send.JoinTries)
}

// make makes the key if it is not there.
func (f *Filter) make(ctx context.Context) error {
	h := f.header
	h.epoch = onekey.NewNonce()
	_, err := f.key.Run(ctx, f.scripts.make, h.encode(), f.endOf(h), f.opts.ttl.Milliseconds())
	return f.key.Explain(nil, err)
}

// endOf returns where the epoch at the end of a value begins, whose layers join has checked.
func (f *Filter) endOf(h header) uint64 { return (*f.planned.Load())[h.layers-1].end }

// join begins the life of the key with this header. The error wraps ErrMismatch if it is another
// filter, and ErrLost if the value does not end as it should.
func (f *Filter) join(ctx context.Context, h header) error {
	if h.fingerprint != f.header.fingerprint {
		return fmt.Errorf("%w: key %q was made for %v, opened for %v", redisfilter.ErrMismatch, f.key.Name, h, f.header)
	}
	if h.layers < 1 || h.layers > maxLayers {
		return fmt.Errorf("%w: key %q: its number of layers is none that it can have", redisfilter.ErrMismatch, f.key.Name)
	}
	layers, err := f.layers(int(h.layers), f.limit)
	if err != nil {
		return fmt.Errorf("key %q: %w", f.key.Name, err)
	}
	if h.left > layers[h.layers-1].keys {
		return fmt.Errorf("%w: key %q: what its newest layer has room for is more than the %d keys that it is for", redisfilter.ErrMismatch, f.key.Name, layers[h.layers-1].keys)
	}
	if l := f.life.Load(); l != nil && l.Epoch == h.epoch && !l.Over() {
		return nil
	}
	end, err := f.key.Read(ctx, f.endOf(h), f.endOf(h)+epochBytes)
	if err != nil {
		return err
	}
	if end != h.epoch {
		return fmt.Errorf("%w: key %q is cut short, or was made anew just now: Open makes it anew", redisfilter.ErrLost, f.key.Name)
	}
	l := &life{Life: onekey.NewLife(h.epoch), expires: h.expires}
	l.layers.Store(h.layers)
	f.life.Store(l)
	return nil
}

// Delete removes the filter from Redis, for everybody: the next call of others returns
// [redisfilter.ErrLost], and so does the next of this one. What another process has put in
// its place is left alone.
func (f *Filter) Delete(ctx context.Context) error { return f.key.Delete(ctx, f.life.Load().Life) }

// slot returns the slot of a life, after taking one if it has none.
func (f *Filter) slot(ctx context.Context, l *life) (*onekey.Slot, error) {
	if s := l.Slot(); s != nil {
		return s, nil
	}
	return f.key.Claim(ctx, l.Life, onekey.Table{At: slotsAt, Each: slotBytes, Count: slots}, f.scripts.claim, l.Epoch, l.Owner)
}

// commands are those that a user must be allowed.
const commands = "BITCOUNT, BITFIELD_RO, EVAL, EVALSHA, EXISTS, GETRANGE, PEXPIREAT, SETRANGE, TIME and UNLINK"
