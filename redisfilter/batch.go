package redisfilter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// batchKeys is the most that one command holds.
const batchKeys = send.BatchKeys

// A part is what one command holds: keys of one shard.
type part struct {
	shard     *shard
	life      *life
	slot      *slot    // nil for a handle that has only asked
	keys      []int    // indices of the answers
	positions []uint64 // k for each key
	words     []word   // the same by words, if f.byWords
	ends      []int    // of each key's words

	command *send.Command      // nil if it was not sent
	values  *redis.IntSliceCmd // the reply to a BITFIELD,
	packed  *redis.Cmd         // or to a script
	before  int                // values before those of the keys
	least   int64              // what the slot's number must be
	reload  bool               // the server does not know the script: send its source

	err         error
	refused     bool // it was definitely not executed
	unconfirmed bool // it was executed, and its answers are known
}

// round adds or asks for some keys, as many as there are answers, with a command for each
// shard or batchKeys of them. Parts of which err is nil have an answer for each of their
// keys; keys that the front knows are in no part.
func (f *Filter) round(ctx context.Context, add bool, positions []uint64, answers []bool) []*part {
	parts := f.split(add, positions, answers)
	if len(parts) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		for _, p := range parts {
			p.err = send.Explain(p.shard.name, err)
		}
		return parts
	}
	f.prepare(ctx, add, parts)
	for todo := sendable(parts); len(todo) > 0; {
		for _, p := range todo {
			f.command(ctx, add, p)
		}
		err := f.send(ctx, add, todo)
		var again []*part
		for _, p := range todo {
			if p.err = err; err != nil {
				p.err = send.Explain(p.shard.name, err)
			} else if f.refused(p) {
				again = append(again, p)
			} else {
				p.err = f.answer(ctx, p, add, answers)
			}
		}
		todo = again
	}
	return parts
}

// split asks the front, and sorts the other keys by shard.
func (f *Filter) split(add bool, positions []uint64, answers []bool) []*part {
	var parts []*part
	var next *part                       // that has no keys yet
	open := make([]*part, len(f.shards)) // the part that still has room
	for i := range answers {
		pos := positions[i*f.k : (i+1)*f.k]
		n := shardOf(pos, len(f.shards))
		p := open[n]
		if p == nil {
			if p = next; p == nil {
				p = newPart()
			}
			next = p
			p.shard, p.life = f.shards[n], f.shards[n].life.Load()
		}
		if p.life.knows(pos) {
			answers[i] = !add
			f.counts.FrontHits.Add(1)
			continue
		}
		answers[i] = false
		if open[n] == nil {
			open[n], next = p, nil
			parts = append(parts, p)
		}
		p.keys = append(p.keys, i)
		p.positions = append(p.positions, pos...)
		if len(p.keys) == batchKeys {
			open[n] = nil
		}
	}
	if next != nil {
		release([]*part{next})
	}
	for _, p := range parts {
		if f.byWords {
			for i := range p.keys {
				p.words = appendWords(p.words, p.positions[i*f.k:(i+1)*f.k])
				p.ends = append(p.ends, len(p.words))
			}
		}
	}
	return parts
}

// freeParts are those of earlier rounds, for the memory of their lists. What a command has
// been given is never used again: a client's hook may hold on to it.
var freeParts = sync.Pool{New: func() any { return new(part) }}

func newPart() *part {
	p := freeParts.Get().(*part)
	*p = part{keys: p.keys[:0], positions: p.positions[:0], words: p.words[:0], ends: p.ends[:0]}
	return p
}

// release is called when nothing of some parts is needed any more.
func release(parts []*part) {
	for _, p := range parts {
		p.shard, p.life, p.slot, p.command, p.values, p.packed, p.err = nil, nil, nil, nil, nil, nil, nil
		freeParts.Put(p)
	}
}

// prepare sets the slots of some parts, or the errors of those that cannot be sent. One
// shard that is lost does not keep the others from being asked.
func (f *Filter) prepare(ctx context.Context, add bool, parts []*part) {
	var without []*shard
	for _, p := range parts {
		if slot := p.life.slot.Load(); add && slot != nil && slot.full() {
			p.life.slot.CompareAndSwap(slot, nil)
		}
		switch {
		case p.life.lost.Load():
			p.err = lostError(p.shard, "it was noticed before")
		case add && p.life.slot.Load() == nil && !slices.Contains(without, p.shard):
			without = append(without, p.shard)
		}
	}
	var failed map[*shard]error
	if len(without) > 0 {
		failed = f.claim(ctx, without)
	}
	for _, p := range parts {
		if p.err == nil && failed[p.shard] != nil {
			p.err = failed[p.shard]
		}
		p.slot = p.life.slot.Load()
		if p.slot == nil && add && p.err == nil { // the shard has begun another life meanwhile
			p.err = lostError(p.shard, "it was reopened")
		}
		if p.err == nil && p.slot != nil && !add {
			if used, due := p.slot.touch(); due {
				p.err = f.keep(ctx, p.shard, p.life, p.slot, used)
			}
		}
	}
}

func sendable(parts []*part) []*part {
	var todo []*part
	for _, p := range parts {
		if p.err == nil {
			todo = append(todo, p)
		}
	}
	return todo
}

// send sends the commands of some parts.
func (f *Filter) send(ctx context.Context, add bool, parts []*part) error {
	commands := make([]*send.Command, len(parts))
	for i, p := range parts {
		commands[i] = p.command
		f.counts.Keys.Add(uint64(len(p.keys)))
	}
	if !add {
		return f.ask(ctx, commands)
	}
	f.counts.RoundTrips.Add(1)
	return f.sender.Add(ctx, commands)
}

// ask sends commands in one pipeline.
func (f *Filter) ask(ctx context.Context, commands []*send.Command) error {
	f.counts.RoundTrips.Add(1)
	return f.sender.Ask(ctx, commands)
}

// A scratch is what one call needs and the commands do not hold on to.
type scratch struct {
	positions []uint64
	answers   []bool
	one       [1]bool
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// roundKeys is how many keys are sent at a time: with many shards, a command for each
// in one pipeline, but no more than a few megabytes of commands.
func (f *Filter) roundKeys() int { return batchKeys * min(len(f.shards), 8) }

// addMany is AddMany and AddStrings.
func addMany[K []byte | string](ctx context.Context, f *Filter, keys []K, added []bool) (count int, err error) {
	var failed AddError
	each(ctx, f, true, keys, added, func(first int, answers []bool, parts []*part) bool {
		for _, yes := range answers {
			if yes {
				count++
			}
		}
		stop := false
		for _, p := range parts {
			if p.err != nil {
				failed.note(p, first)
				stop = stop || !errors.Is(p.err, ErrLost) && !p.unconfirmed
			}
		}
		if stop {
			for i := first + len(answers); i < len(keys); i++ {
				failed.NotAdded = append(failed.NotAdded, i)
			}
		}
		return !stop
	})
	if failed.Err == nil {
		return count, nil
	}
	f.counts.Unknown.Add(uint64(len(failed.Unknown)))
	slices.Sort(failed.Unknown)
	slices.Sort(failed.Unconfirmed)
	slices.Sort(failed.NotAdded)
	return count, &failed
}

// containsMany is ContainsMany and ContainsStrings.
func containsMany[K []byte | string](ctx context.Context, f *Filter, keys []K, found []bool) (count int, err error) {
	each(ctx, f, false, keys, found, func(_ int, answers []bool, parts []*part) bool {
		for _, yes := range answers {
			if yes {
				count++
			}
		}
		for _, p := range parts {
			if p.err != nil && (err == nil || !errors.Is(p.err, ErrLost)) {
				err = p.err
			}
		}
		return err == nil || errors.Is(err, ErrLost)
	})
	return count, err
}

// each does the rounds for all keys, until one of them says that it was the last.
func each[K []byte | string](ctx context.Context, f *Filter, add bool, keys []K, answers []bool, done func(first int, answers []bool, parts []*part) bool) {
	send.CheckAnswers(len(keys), answers)
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	size := f.roundKeys()
	for first := 0; first < len(keys); first += size {
		last := min(first+size, len(keys))
		s.positions = s.positions[:0]
		for _, key := range keys[first:last] {
			s.positions = f.appendPositions(s.positions, bytesOf(key))
		}
		var here []bool
		if answers != nil {
			here = answers[first:last]
		} else {
			s.answers = append(s.answers[:0], make([]bool, last-first)...)
			here = s.answers
		}
		parts := f.round(ctx, add, s.positions, here)
		more := done(first, here, parts)
		release(parts)
		if !more {
			return
		}
	}
}

// appendPositions appends the positions of a key's bits.
func (f *Filter) appendPositions(dst []uint64, key []byte) []uint64 {
	before := len(dst)
	dst = f.scheme.AppendPositions(dst, key)
	if len(dst)-before != f.k {
		panic("redisfilter: the strategy's positions are not k")
	}
	return dst
}

// bytesOf returns a key's bytes without copying them.
func bytesOf[K []byte | string](key K) []byte {
	switch key := any(key).(type) {
	case []byte:
		return key
	case string:
		return unsafe.Slice(unsafe.StringData(key), len(key))
	}
	panic("never")
}
