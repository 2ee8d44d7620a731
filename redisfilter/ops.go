package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is definitely new and this call added it, false if the
// key was probably there already. Of any number of processes that add the same new key at the same
// time, exactly one gets true; none does if the bits of other keys already cover it, an ordinary false
// positive. With a window, a key is new again after it was forgotten.
//
// An add is sent at most once. If no answer comes, the key may or may not be in the filter: the error
// is an [AddError] that wraps [ErrUnknown]. The error wraps [ErrLost] if the filter is gone or older
// than what was confirmed to this handle, [ErrFull] if a growing filter has no room, and [ErrHandles]
// if no slot is free. An Add is one round trip, none if the front filter knows the key, and two for
// the first add of a handle. While some adds are under way, adds of other goroutines wait and go
// together in one command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	return f.single(ctx, true, key)
}

// Contains returns false if the key was definitely never added, true if it probably was; with a
// window, added within the window or the rest of the generation before. The error wraps [ErrLost]
// if the filter is gone, or older than a value that this handle has added to. After an error,
// ignore the answer false. Contains never writes to the server.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	return f.single(ctx, false, key)
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for each 500. It
// returns the number of new keys. If added is not nil, added[i] becomes what Add of keys[i] would
// return. Of equal keys in one batch, the first is the new one. It panics if added is neither nil nor
// as long as keys.
//
// An error is an [AddError] that lists the keys without an answer. The other answers are valid and
// counted.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	var failed AddError
	count = f.rounds(ctx, true, keys, added, func(first int, p *part) {
		failed.note(p, first)
	}, func(rest []int) { failed.NotAdded = append(failed.NotAdded, rest...) })
	if failed.Err == nil {
		return count, nil
	}
	f.sender.Counts.Unknown.Add(uint64(len(failed.Unknown)))
	slices.Sort(failed.Unknown)
	slices.Sort(failed.Unconfirmed)
	slices.Sort(failed.NotAdded)
	return count, &failed
}

// ContainsMany looks up keys as [Filter.Contains] does, in one round trip for each 500. It returns
// how many were probably added. If found is not nil, found[i] becomes what Contains of keys[i]
// would return. It panics if found is neither nil nor as long as keys.
//
// After an error, true is an answer and false is none.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	count = f.rounds(ctx, false, keys, found, func(_ int, p *part) {
		if p.err != nil && (err == nil || !errors.Is(p.err, ErrLost)) {
			err = p.err
		}
	}, func([]int) {})
	return count, err
}

// A part is the keys of one shard in a call.
type part struct {
	shard     *shard
	indices   []int // of the answers
	keys      [][]byte
	positions []uint64 // in the first layer, k for each key
	k         int

	life *life
	slot *slot // nil for a handle that has only looked up
	want uint64
	done int // keys that have an answer, or were sent without one

	err         error // the keys from done on were not added, and the other parts go on
	warning     error // too few replicas
	unknown     []int // indices of keys that may have been added
	unconfirmed []int // indices of keys that too few replicas have
}

func (p *part) positionsOf(i int) []uint64 { return p.positions[i*p.k : (i+1)*p.k] }

// note files the keys of a part without an answer. first is the index of the round's first key.
func (e *AddError) note(p *part, first int) {
	for _, err := range []error{p.err, p.warning} {
		switch {
		case err == nil:
		case e.Err == nil:
			e.Err = err
		case e.Err.Error() != err.Error():
			e.Err = errors.Join(e.Err, err)
		}
	}
	for _, list := range []struct{ to, from *[]int }{{&e.Unknown, &p.unknown}, {&e.Unconfirmed, &p.unconfirmed}} {
		for _, i := range *list.from {
			*list.to = append(*list.to, first+i)
		}
	}
	for _, i := range p.indices[p.done:] {
		e.NotAdded = append(e.NotAdded, first+i)
	}
}

// commandKeys is the largest number of keys of one command for a shard of several: they receive
// different numbers of the keys of a round.
const commandKeys = send.BatchKeys * 5 / 4

// rounds does rounds of 500 keys, or with several shards of up to 4000, until all keys are done or a
// round has failed for another reason than a lost shard.
func (f *Filter) rounds(ctx context.Context, add bool, keys [][]byte, answers []bool, done func(first int, p *part), rest func([]int)) (count int) {
	if answers == nil {
		answers = make([]bool, len(keys))
	}
	if len(answers) != len(keys) {
		panic("redisfilter: answers are neither nil nor as long as keys")
	}
	clear(answers)
	size := send.BatchKeys * min(len(f.shards), 8)
	for first := 0; first < len(keys); first += size {
		last := min(first+size, len(keys))
		here := answers[first:last]
		parts := f.split(add, keys[first:last], here)
		f.round(ctx, add, parts, here)
		for _, yes := range here {
			if yes {
				count++
			}
		}
		stop := false
		for _, p := range parts {
			done(first, p)
			stop = stop || p.err != nil && !errors.Is(p.err, ErrLost)
		}
		if stop && last < len(keys) {
			var left []int
			for i := last; i < len(keys); i++ {
				left = append(left, i)
			}
			rest(left)
			return count
		}
	}
	return count
}

// split asks the front, and divides the other keys by shard.
func (f *Filter) split(add bool, keys [][]byte, answers []bool) (parts []*part) {
	k := f.plan.scheme.Params().K
	byShard := make([]*part, len(f.shards))
	positions := make([]uint64, 0, len(keys)*k)
	for i, key := range keys {
		before := len(positions)
		positions = f.appendPositions(positions, key)
		pos := positions[before:]
		n := shardOf(pos, len(f.shards))
		if f.shards[n].life.Load().knows(pos) {
			answers[i] = !add
			f.sender.Counts.FrontHits.Add(1)
			positions = positions[:before]
			continue
		}
		p := byShard[n]
		if p == nil {
			room := (len(keys) + len(f.shards) - 1) / len(f.shards)
			p = &part{shard: f.shards[n], k: k, indices: make([]int, 0, room), keys: make([][]byte, 0, room)}
			byShard[n] = p
			parts = append(parts, p)
		}
		p.indices = append(p.indices, i)
		p.keys = append(p.keys, key)
		if len(f.shards) > 1 {
			p.positions = append(p.positions, pos...)
		} else {
			p.positions = positions
		}
	}
	return parts
}

// appendPositions appends the positions of a key in the first layer.
func (f *Filter) appendPositions(dst []uint64, key []byte) []uint64 {
	before := len(dst)
	dst = f.plan.scheme.AppendPositions(dst, key)
	if len(dst)-before != f.plan.scheme.Params().K {
		panic("redisfilter: the strategy's positions are not k")
	}
	return dst
}

// round adds or looks up the keys of some parts, each of another shard, side by side.
func (f *Filter) round(ctx context.Context, add bool, parts []*part, answers []bool) {
	f.prepare(ctx, add, parts)
	for {
		var todo []*part
		for _, p := range parts {
			if p.err == nil && p.done < len(p.indices) {
				todo = append(todo, p)
			}
		}
		switch {
		case len(todo) == 0:
			return
		case add:
			f.add(ctx, todo, answers)
		case f.plan.generations > 0:
			f.ask(ctx, todo, answers)
		default:
			f.read(ctx, todo, answers)
		}
	}
}

// prepare sets the lives and slots of parts, or their errors. A shard that is lost does not keep the
// others from being asked.
func (f *Filter) prepare(ctx context.Context, add bool, parts []*part) {
	var all sync.WaitGroup
	for _, p := range parts {
		p.life = p.shard.life.Load()
		p.want = p.life.layers.Load()
		if p.err = f.ready(p.shard, p.life); p.err != nil {
			continue
		}
		if add && p.life.slot.Load() == nil {
			if len(parts) == 1 {
				p.err = f.claim(ctx, p.shard, p.life)
			} else {
				all.Go(func() { p.err = f.claim(ctx, p.shard, p.life) })
			}
		}
	}
	all.Wait()
	for _, p := range parts {
		p.slot = p.life.slot.Load()
	}
}

// add sends a command that adds for each part.
func (f *Filter) add(ctx context.Context, parts []*part, answers []bool) {
	var requests []*request
	var sent []*part
	for _, p := range parts {
		layers, err := f.layersFor(p)
		if err != nil {
			p.err = err
			continue
		}
		last := min(len(p.indices), p.done+commandKeys)
		data := p.pack(f.plan, layers, p.done, last)
		args := []any{p.life.epoch, p.slot.at, p.slot.at + 15, p.life.owner, p.slot, p.slot.touch(), p.slot.at + 8, data, last - p.done}
		if f.plan.growth {
			newest := layers[len(layers)-1]
			args = append(args, len(layers), newest.end, newest.keys)
		}
		f.count(last-p.done, 140+len(data))
		requests = append(requests, &request{shard: p.shard, script: f.scripts.add, args: args, once: true, add: true})
		sent = append(sent, p)
	}
	if len(requests) == 0 {
		return
	}
	f.exec(ctx, requests...)
	for i, p := range sent {
		f.added(p, requests[i], answers)
	}
}

// layersFor returns the layers that the keys of a part are packed for. Beyond those that the filter is
// known to have, this handle's limit counts.
func (f *Filter) layersFor(p *part) ([]layer, error) {
	if !f.plan.growth {
		return *f.plan.layers.Load(), nil
	}
	limit := uint64(maxValue)
	if p.want > p.life.layers.Load() {
		limit = f.plan.limit
	}
	layers, err := f.plan.grown(int(p.want), limit)
	if err != nil {
		return nil, fmt.Errorf("%w: key %q: %w", ErrFull, p.shard.name, err)
	}
	return layers, nil
}

// added reads the reply to an add.
func (f *Filter) added(p *part, r *request, answers []bool) {
	last := min(len(p.indices), p.done+commandKeys)
	reply, err := r.text()
	if more, ok := layersOf(err); ok {
		if more <= p.want || !f.plan.canHave(more) {
			p.err = f.onLost(p.shard, p.life, isOlder)
			return
		}
		raise(&p.life.layers, more)
		p.want = more
		return
	}
	var done int
	if err == nil {
		var count float64
		var layers uint64
		if count, layers, done, err = decodeAdded(reply, last-p.done); err != nil {
			err = fmt.Errorf("redisfilter: key %q: %w", p.shard.name, err)
		} else {
			p.slot.see(count)
			raise(&p.life.layers, layers)
		}
	} else if r.call.NotExecuted() {
		p.err = f.explain(p.shard, p.life, err)
		return
	}
	if err != nil {
		p.err = f.explain(p.shard, p.life, err)
		p.unknown = append(p.unknown, p.indices[p.done:last]...)
		p.done = last
		return
	}
	confirmed := f.sender.Confirmed(r.call)
	for i := range done {
		answers[p.indices[p.done+i]] = reply[24+i/8]>>(i%8)&1 == 1
		if confirmed == nil {
			p.life.front.learn(p.positionsOf(p.done + i))
		}
	}
	if confirmed != nil {
		p.warning = confirmed
		p.unconfirmed = append(p.unconfirmed, p.indices[p.done:p.done+done]...)
	}
	p.done += done
	if p.done < last {
		p.want++ // the newest layer has no room
	}
}

// decodeAdded reads the numbers of a reply to an add of n keys.
func decodeAdded(reply string, n int) (count float64, layers uint64, done int, err error) {
	if len(reply) >= 24 {
		b := []byte(reply[:24])
		count = math.Float64frombits(binary.LittleEndian.Uint64(b))
		layers = wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		done = int(min(wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))), math.MaxInt32))
		if count >= 1 && layers <= maxLayers && done <= n && len(reply) == 24+(done+7)/8 {
			return count, layers, done, nil
		}
	}
	return 0, 0, 0, fmt.Errorf("a reply of %d bytes to %d keys that no script gives", len(reply), n)
}

// layersOf returns the number of layers if a script has refused to add because there are more than
// the keys were packed for.
func layersOf(err error) (layers uint64, more bool) {
	if send.Code(err) != send.More {
		return 0, false
	}
	_, err = fmt.Sscanf(err.Error(), send.More+" %d", &layers)
	return layers, err == nil
}

// count counts the keys and bytes of a command.
func (f *Filter) count(keys, bytes int) {
	f.sender.Counts.Keys.Add(uint64(keys))
	f.sender.Counts.Bytes.Add(uint64(bytes))
}
