package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A sight is what was seen of a shard's key.
type sight struct {
	head   []byte
	epoch  int64 // at the end of the value
	number int64 // in the handle's slot
}

// look reads the header of a shard's key, the epoch at its end, and a slot if there is one.
func (f *Filter) look(ctx context.Context, key string, slot *slot) (sight, error) {
	head := redis.NewStringCmd(ctx, "GETRANGE", key, 0, headerBytes-1)
	tail := redis.NewStringCmd(ctx, "GETRANGE", key, f.layout.tail, f.layout.length-1)
	commands := []*send.Command{{Key: key, Cmd: head}, {Key: key, Cmd: tail}}
	var own *redis.StringCmd
	if slot != nil {
		own = redis.NewStringCmd(ctx, "GETRANGE", key, slot.at, slot.at+7)
		commands = append(commands, &send.Command{Key: key, Cmd: own})
	}
	if err := f.ask(ctx, commands); err != nil {
		return sight{}, send.Explain(key, err)
	}
	var s sight
	var err error
	if s.head, err = head.Bytes(); err != nil {
		return sight{}, send.Explain(key, err)
	}
	end, err := tail.Bytes()
	if err != nil {
		return sight{}, send.Explain(key, err)
	}
	if len(end) == tailBytes {
		s.epoch = int64(binary.BigEndian.Uint64(end))
	}
	if own != nil {
		b, err := own.Bytes()
		if err != nil {
			return sight{}, send.Explain(key, err)
		}
		if len(b) == 8 {
			s.number = int64(binary.BigEndian.Uint64(b))
		}
	}
	return s, nil
}

// alive returns an error if a shard's key is not the one of this life any more, or an older
// value of it.
func (f *Filter) alive(ctx context.Context, s *shard, l *life) error {
	if l.lost.Load() {
		return lostError(s, "it was noticed before")
	}
	slot, least := l.slot.Load(), int64(0)
	if slot != nil {
		least = slot.number.Load()
	}
	seen, err := f.look(ctx, s.name, slot)
	if err != nil {
		return err
	}
	return f.same(ctx, s, l, slot, least, seen)
}

// same compares what was seen of a shard's key with its life.
func (f *Filter) same(ctx context.Context, s *shard, l *life, slot *slot, least int64, seen sight) error {
	h, ok := decodeHeader(seen.head)
	switch {
	case len(seen.head) == 0 || isOrphan(seen.head):
		return f.gone(ctx, s, l)
	case !ok:
		return f.onLost(ctx, s, l, "something else is in its place")
	case h.epoch != l.epoch:
		return f.onLost(ctx, s, l, "it was made anew by somebody else")
	case seen.epoch != l.epoch:
		return f.onLost(ctx, s, l, "its value was cut short")
	case slot != nil && ownerOf(seen.number) != slot.owner():
		return f.onLost(ctx, s, l, fmt.Sprintf("it is older than the adds of this handle, or more than %d handles add to it, so that another one has taken its slot", f.layout.slots))
	case slot != nil && seen.number < least:
		return f.older(ctx, s, l, least-seen.number)
	}
	return nil
}

// diagnose says why a reply did not come from the key of this life.
func (f *Filter) diagnose(ctx context.Context, s *shard, l *life) error {
	slot, least := l.slot.Load(), int64(0)
	if slot != nil {
		least = slot.number.Load()
	}
	seen, err := f.look(ctx, s.name, slot)
	if err == nil {
		err = f.same(ctx, s, l, slot, least, seen)
	}
	if !errors.Is(err, ErrLost) { // it could not be asked, or is there again
		err = f.onLost(ctx, s, l, "a reply came from another key than that of this filter")
	}
	return err
}

// older is called if the value of a key is older than what was confirmed to this handle.
func (f *Filter) older(ctx context.Context, s *shard, l *life, by int64) error {
	return f.onLost(ctx, s, l, fmt.Sprintf("the server has gone back to an older value and forgotten at least %d of the commands that it had confirmed to this handle (failover, restart or restore)", by))
}

// gone is called for a key that has vanished. It removes the orphan that a call may have
// left.
func (f *Filter) gone(ctx context.Context, s *shard, l *life) error {
	err := f.onLost(ctx, s, l, "it was evicted, expired, flushed, deleted, or lost in a restart")
	// If this fails, the next Open finds the orphan.
	f.overRuin(ctx, s.name)
	return err
}

// onLost marks a life as lost and returns the error.
func (f *Filter) onLost(ctx context.Context, s *shard, l *life, how string) error {
	if !l.lost.Swap(true) {
		f.counts.Lost.Add(1)
		f.log.WarnContext(ctx, "lost", "filter", f.name, "key", s.name, "how", how)
	}
	return lostError(s, how)
}

func lostError(s *shard, how string) error {
	return fmt.Errorf("%w: key %q: %s; keys are forgotten: Reopen goes on with what is there, or an empty one", ErrLost, s.name, how)
}

// overRuin removes a key that holds an orphan or a value of this filter that was cut short,
// and holds it until then. If it holds anything else, nothing is done.
func (f *Filter) overRuin(ctx context.Context, key string) error {
	err := f.sender.Watch(ctx, func(tx *redis.Tx) error {
		head, err := tx.GetRange(ctx, key, 0, headerBytes-1).Bytes()
		if err != nil {
			return err
		}
		if !isOrphan(head) {
			h, err := f.check(key, head)
			if err != nil {
				return nil // somebody else's
			}
			tail, err := tx.GetRange(ctx, key, int64(f.layout.tail), int64(f.layout.length)-1).Bytes()
			if err != nil || string(tail) == string(h.tailOf()) {
				return err
			}
		}
		_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Unlink(ctx, key)
			return nil
		})
		return err
	}, key)
	if errors.Is(err, redis.TxFailedErr) {
		return nil
	}
	return send.Explain(key, err)
}
