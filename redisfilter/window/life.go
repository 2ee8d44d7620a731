package window

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// A life is one incarnation of the key, from when it is made until it is lost.
type life struct {
	*onekey.Life
	idle chan *lane
}

// A lane numbers the adds that are sent one after the other. The server keeps its last reply.
type lane struct {
	offset uint64 // in the slot
	number uint64
}

// Reopen goes on after [redisfilter.ErrLost], as [Open] would: it makes what is gone, empty, and
// joins what others have made anew, or what is left after the server has gone back to an older
// value. If nothing is lost, it does nothing. Goroutines that share the filter may all call it.
func (f *Filter) Reopen(ctx context.Context) error {
	head, err := f.key.Read(ctx, 0, headerBytes)
	if err == nil && head == "" {
		h := f.header
		h.epoch = onekey.NewNonce()
		head, err = f.make(ctx, h)
	}
	if err != nil {
		return err
	}
	return f.join(ctx, head)
}

// join begins the life of the key with this header.
func (f *Filter) join(ctx context.Context, head string) error {
	h, ok := decodeHeader([]byte(head))
	if !ok {
		return f.key.Foreign()
	}
	if h.fingerprint != f.header.fingerprint || h.slots != f.layout.slots {
		return fmt.Errorf("%w: key %q was made for %v, opened for %v", redisfilter.ErrMismatch, f.key.Name, h, f.header)
	}
	if l := f.life.Load(); l != nil && l.Epoch == h.epoch && !l.Over() {
		return nil
	}
	end, err := f.key.Read(ctx, f.layout.end, f.layout.length)
	if err != nil {
		return err
	}
	if end == "" {
		return fmt.Errorf("%w: key %q: made, and evicted or deleted at once", redisfilter.ErrLost, f.key.Name)
	}
	if len(end) != endBytes || end[16:] != h.epoch {
		return fmt.Errorf("%w: key %q is cut short, or was made anew just now: delete it, or try again", redisfilter.ErrMismatch, f.key.Name)
	}
	l := &life{Life: onekey.NewLife(h.epoch), idle: make(chan *lane, lanes)}
	for i := range uint64(lanes) {
		l.idle <- &lane{offset: laneAt + i*laneBytes}
	}
	f.life.Store(l)
	return nil
}

// make makes the key if it is not there, and returns the header that it has then.
func (f *Filter) make(ctx context.Context, h header) (string, error) {
	v, err := f.key.Run(ctx, f.scripts.make, h.encode(), f.layout.end, strings.Repeat("\x00", 16)+h.epoch)
	if err != nil {
		return "", f.key.Explain(nil, err)
	}
	head, ok := v.(string)
	if !ok {
		return "", f.key.Errorf("the script answered %T, want a string", v)
	}
	return head, nil
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
	table := onekey.Table{At: f.layout.table, Each: slotBytes, Count: uint64(f.layout.slots)}
	return f.key.Claim(ctx, l.Life, table, f.scripts.claim, f.common(l, l.Owner, table.At, table.Count)...)
}

// common returns the arguments of scripts that begin with scriptHead.
func (f *Filter) common(l *life, more ...any) []any {
	return append([]any{f.layout.end, f.layout.length - 1, l.Epoch, f.header.millis}, more...)
}

// commands are those that a user must be allowed.
const commands = "EVAL, EVALSHA, EXISTS, GETRANGE, SETRANGE, TIME and UNLINK"
