package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// Positions says where a key's bits are: bloom.Scheme does. It appends the same
// number of positions for every key, in the same order for ever, and is called
// from many goroutines at once.
type Positions interface {
	AppendPositions(dst []uint64, key []byte) []uint64
}

// A store adds and asks for keys in bits that are in Redis, with one BITFIELD for
// each shard and batch.
type store struct {
	sender    send.Sender
	positions Positions
	k         int
	m         uint64 // of each shard
	header    bool   // the keys begin with a header, and the bits are numbered our way
	shards    []*shard
	onLost    func(ctx context.Context, s *shard, l *life, epoch int64) error
}

// batchKeys is the most that one command holds. Redis does nothing else while it
// executes a command: 1.2 ms for 1000 keys.
const batchKeys = 500

// A part is what one command holds: keys of one shard.
type part struct {
	shard     *shard
	life      *life
	keys      []int    // indices into the caller's
	positions []uint64 // k for each key
	offsets   []uint64 // the same as offsets of bits in the value

	command *send.Command // nil if it was not sent
	replies *redis.IntSliceCmd
	before  int  // replies before those of the offsets
	refused bool // the command was definitely not executed
}

// offset translates a position to the number that Redis gives the bit. Redis
// counts the bits of a byte from the high end, we count from the low one; with the
// last three bits flipped, the value's bytes are our words, and Push and Pull
// need no conversion.
func (s *store) offset(pos uint64) uint64 {
	if s.header {
		return headerBits + pos ^ 7
	}
	return pos
}

// add is AddMany.
func (s *store) add(ctx context.Context, keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	var failed AddError
	for first := 0; first < len(keys); first += s.round() {
		last := min(first+s.round(), len(keys))
		parts, err := s.split(ctx, keys[first:last], first, true, answers)
		if err == nil {
			err = s.sender.Add(ctx, commandsOf(parts))
		}
		for _, p := range parts {
			if err := s.answer(ctx, p, err, true, answers); err != nil {
				failed.note(p, err)
			}
		}
		if failed.Err != nil {
			for i := last; i < len(keys); i++ {
				failed.NotAdded = append(failed.NotAdded, i)
			}
			break
		}
	}
	if failed.Err == nil {
		return answers, nil
	}
	slices.Sort(failed.Unknown)
	slices.Sort(failed.NotAdded)
	return answers, &failed
}

// contains is ContainsMany.
func (s *store) contains(ctx context.Context, keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	for first := 0; first < len(keys); first += s.round() {
		last := min(first+s.round(), len(keys))
		parts, err := s.split(ctx, keys[first:last], first, false, answers)
		if err == nil {
			err = s.sender.Ask(ctx, commandsOf(parts))
		}
		for _, p := range parts {
			if err := s.answer(ctx, p, err, false, answers); err != nil {
				return nil, err
			}
		}
	}
	return answers, nil
}

// round is how many keys are sent at a time: with many shards, a command for each
// in one pipeline, but no more than a few megabytes of commands.
func (s *store) round() int { return batchKeys * min(len(s.shards), 8) }

// split makes the commands for some keys, after asking the front. first is the
// index of keys[0] among the caller's.
func (s *store) split(ctx context.Context, keys [][]byte, first int, add bool, answers []bool) ([]*part, error) {
	var parts []*part
	open := make([]*part, len(s.shards)) // the part that still has room
	pos := make([]uint64, 0, s.k)
	for i, key := range keys {
		pos = s.positions.AppendPositions(pos[:0], key)
		if len(pos) != s.k {
			panic(fmt.Sprintf("redisbloom: %d positions for a key and %d for another, want as many", len(pos), s.k))
		}
		n := shardOf(pos, len(s.shards))
		p := open[n]
		if p == nil {
			p = &part{shard: s.shards[n], life: s.shards[n].life.Load()}
		}
		if p.life.knows(pos) {
			answers[first+i] = !add
			continue
		}
		if open[n] == nil {
			room := min(len(keys)-i, batchKeys)
			p.keys = make([]int, 0, room)
			p.positions = make([]uint64, 0, room*s.k)
			open[n] = p
			parts = append(parts, p)
		}
		p.keys = append(p.keys, first+i)
		p.positions = append(p.positions, pos...)
		if len(p.keys) == batchKeys {
			open[n] = nil
		}
	}
	if err := ctx.Err(); err != nil {
		return parts, err
	}
	for _, p := range parts {
		if p.life.lost.Load() {
			return parts, lostError(p.shard, "it was noticed before")
		}
	}
	for _, p := range parts {
		p.offsets = make([]uint64, len(p.positions))
		for i, pos := range p.positions {
			p.offsets[i] = s.offset(pos)
		}
		p.command = &send.Command{Key: p.shard.name}
		p.command.Cmd, p.replies, p.before = bitfield(ctx, p.shard.name, s.header, add, p.offsets)
	}
	return parts, nil
}

func commandsOf(parts []*part) []*send.Command {
	commands := make([]*send.Command, len(parts))
	for i, p := range parts {
		commands[i] = p.command
	}
	return commands
}

// knows reports whether the front contains a key and is still to be believed.
func (l *life) knows(positions []uint64) bool {
	return l.front.containsAll(positions) && !l.lost.Load() && (l.expires.IsZero() || time.Now().Before(l.expires))
}

// positionPool keeps buffers for the positions of single keys: what crosses an
// interface is on the heap.
var positionPool = sync.Pool{New: func() any { return new([]uint64) }}

// knowsKey asks the front alone about a key, without allocating: in a stream with
// many duplicates, most calls end here.
func (s *store) knowsKey(key []byte) bool {
	buf := positionPool.Get().(*[]uint64)
	pos := s.positions.AppendPositions((*buf)[:0], key)
	known := s.shards[shardOf(pos, len(s.shards))].life.Load().knows(pos)
	*buf = pos
	positionPool.Put(buf)
	return known
}

// answer reads the replies to one command: the answers to its keys, and what the
// front can learn from them. err is what kept the whole round from being sent or
// awaited.
func (s *store) answer(ctx context.Context, p *part, err error, add bool, answers []bool) error {
	if err != nil {
		return send.Explain(p.shard.name, err)
	}
	replies, err := p.replies.Result()
	if err != nil {
		p.refused = send.NotExecuted(err)
		return send.Explain(p.shard.name, err)
	}
	if want := p.before + len(p.offsets); len(replies) != want {
		return fmt.Errorf("redisbloom: key %q: %d replies, want %d", p.shard.name, len(replies), want)
	}
	if s.header && replies[0] != p.life.epoch {
		return s.onLost(ctx, p.shard, p.life, replies[0])
	}
	if err := s.sender.Confirmed(p.command); err != nil {
		return err
	}
	bits := replies[p.before:]
	for i, key := range p.keys {
		all := true
		for j := i * s.k; j < (i+1)*s.k; j++ {
			set := bits[j] != 0
			all = all && set
			if set || add {
				p.life.front.learn(p.positions[j])
			}
		}
		answers[key] = all != add
	}
	return nil
}

// note files the keys of a command that failed.
func (e *AddError) note(p *part, err error) {
	if e.Err == nil {
		e.Err = err
	} else if e.Err.Error() != err.Error() {
		e.Err = errors.Join(e.Err, err)
	}
	if p.command == nil || p.refused {
		e.NotAdded = append(e.NotAdded, p.keys...)
	} else {
		e.Unknown = append(e.Unknown, p.keys...)
	}
}
