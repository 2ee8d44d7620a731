package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Arguments as interfaces, so that the many arguments of a command need no allocation each.
var argGet, argWord, argBit any = "GET", "i64", "u1"

// A reading is one command that looks up keys of a part in all layers, without a script: a layer that
// is not the newest never changes, and the number of layers comes with the answers.
type reading struct {
	part    *part
	call    *send.Call
	cmd     *redis.IntSliceCmd
	layers  []layer
	least   float64
	from    int      // the first key
	to      int      // behind the last key
	head    int      // values before those of the keys
	masks   []uint64 // of each word that is read; nil if bits are read
	ends    []int    // of the words of each key in each layer
	offsets []uint64
}

// read sends a command that looks up keys of each part.
func (f *Filter) read(ctx context.Context, parts []*part, answers []bool) {
	readings := make([]*reading, 0, len(parts))
	var calls []*send.Call
	for _, p := range parts {
		layers, err := f.plan.grown(int(p.want), maxValue)
		if err != nil {
			p.err = err
			continue
		}
		r := f.newReading(ctx, p, layers)
		readings, calls = append(readings, r), append(calls, r.call)
	}
	if len(calls) == 0 {
		return
	}
	f.sender.Send(ctx, calls...)
	for _, r := range readings {
		f.answered(r, answers)
	}
}

// newReading makes the command for keys of a part.
func (f *Filter) newReading(ctx context.Context, p *part, layers []layer) *reading {
	r := &reading{part: p, layers: layers, from: p.done, to: min(len(p.indices), p.done+commandKeys)}
	perKey := len(layers) * f.plan.words
	if f.plan.words == 0 {
		for _, l := range layers {
			perKey += l.scheme.Params().K
		}
	}
	r.offsets = make([]uint64, 0, 4+(r.to-r.from)*perKey)
	args := make([]any, 2, 2+3*cap(r.offsets))
	args[0], args[1] = "BITFIELD_RO", p.shard.name
	get := func(kind any, bit uint64) {
		r.offsets = append(r.offsets, bit)
		args = append(args, argGet, kind, &r.offsets[len(r.offsets)-1])
	}
	// An intact slot shows that the value is the right one, see luaSlot.
	if p.slot != nil {
		r.least = p.slot.least()
		get(argWord, p.slot.at*8)
		get(argWord, p.slot.at*8+64)
	}
	if p.slot == nil || f.plan.growth {
		get(argWord, layers[len(layers)-1].end*8)
	}
	if f.plan.growth {
		get(argWord, layersField*8)
	}
	r.head = len(r.offsets)
	if f.plan.words > 0 {
		r.masks = make([]uint64, 0, (r.to-r.from)*perKey)
		r.ends = make([]int, 0, (r.to-r.from)*len(layers))
	}
	var room []uint64
	for i := r.from; i < r.to; i++ {
		for n, l := range layers {
			positions := p.positionsOf(i)
			if n > 0 {
				room = l.scheme.AppendPositions(room[:0], p.keys[i])
				positions = room
			}
			if f.plan.words == 0 {
				for _, pos := range positions {
					get(argBit, bitNumber(l.at, pos))
				}
				continue
			}
			b := blockOf(positions)
			for word, mask := range b.masks {
				if mask != 0 {
					r.masks = append(r.masks, mask)
					get(argWord, (l.at+b.index*blockBytes+uint64(word)*8)*8)
				}
			}
			r.ends = append(r.ends, len(r.masks))
		}
	}
	r.cmd = redis.NewIntSliceCmd(ctx, args...)
	r.call = &send.Call{Key: p.shard.name, Cmd: r.cmd}
	f.count(r.to-r.from, 60+28*len(r.offsets))
	return r
}

// answered reads the reply to a reading. If the filter has grown, the keys are looked up again.
func (f *Filter) answered(r *reading, answers []bool) {
	p := r.part
	if err := r.call.Err(); err != nil {
		p.err = f.explain(p.shard, p.life, err)
		return
	}
	values := r.cmd.Val()
	if len(values) != len(r.offsets) {
		p.err = fmt.Errorf("redisfilter: key %q: %d replies, want %d", p.shard.name, len(values), len(r.offsets))
		return
	}
	head := values
	if p.slot != nil {
		switch {
		case head[0] != asRead(p.life.owner):
			p.err = f.onLost(p.shard, p.life, isTaken)
		case !(double(head[1]) >= r.least):
			p.err = f.onLost(p.shard, p.life, isOlder)
		}
		head = head[2:]
	}
	if p.err == nil && (p.slot == nil || f.plan.growth) && head[0] != asRead(p.life.epoch) {
		p.err = f.onLost(p.shard, p.life, isGone)
	}
	if p.err == nil && f.plan.growth {
		now := wholeOf(double(head[1]))
		if now < uint64(len(r.layers)) || !f.plan.canHave(now) {
			p.err = f.onLost(p.shard, p.life, isOlder)
		} else if now > uint64(len(r.layers)) {
			raise(&p.life.layers, now)
			p.want = now
			return
		}
	}
	if p.err != nil {
		return
	}
	values = values[r.head:]
	begin := 0
	for i := r.from; i < r.to; i++ {
		found := false
		for n, l := range r.layers {
			all := true
			if k := l.scheme.Params().K; r.masks == nil {
				for _, bit := range values[:k] {
					all = all && bit == 1
				}
				values = values[k:]
			} else {
				end := r.ends[(i-r.from)*len(r.layers)+n]
				for j := begin; j < end; j++ {
					all = all && bits.ReverseBytes64(uint64(values[j]))&r.masks[j] == r.masks[j]
				}
				begin = end
			}
			found = found || all
		}
		answers[p.indices[i]] = found
		// Replicas need not have what a lookup sees: an add must not be answered without them.
		if found && f.sender.Replicas == 0 {
			p.life.front.learn(p.positionsOf(i))
		}
	}
	p.done = r.to
}

// double returns a number that a script has written and a BITFIELD has read.
func double(value int64) float64 { return math.Float64frombits(bits.ReverseBytes64(uint64(value))) }

// asRead returns 8 bytes as a BITFIELD reads them.
func asRead(b string) int64 { return int64(binary.BigEndian.Uint64([]byte(b))) }

// ask runs a script that looks up keys of each part in a window: the generation is the server's.
func (f *Filter) ask(ctx context.Context, parts []*part, answers []bool) {
	requests := make([]*request, len(parts))
	for i, p := range parts {
		last := min(len(p.indices), p.done+commandKeys)
		data := p.pack(f.plan, *f.plan.layers.Load(), p.done, last)
		requests[i] = f.askFor(p.shard, p.life, data, last-p.done)
		f.count(last-p.done, 140+len(data))
	}
	f.exec(ctx, requests...)
	for i, p := range parts {
		last := min(len(p.indices), p.done+commandKeys)
		_, reply, err := f.asked(requests[i], p.life, last-p.done)
		if err != nil {
			p.err = err
			continue
		}
		for j := range last - p.done {
			answers[p.indices[p.done+j]] = reply[j/8]>>(j%8)&1 == 1
		}
		p.done = last
	}
}

func (f *Filter) askFor(s *shard, l *life, data []byte, keys int) *request {
	r := &request{shard: s, script: f.scripts.ask}
	if sl := l.slot.Load(); sl != nil {
		r.args = []any{l.epoch, sl.at, sl.at + 15, l.owner, sl, "", "", data, keys}
	} else {
		r.args = []any{l.epoch, f.plan.layout.end, f.plan.layout.length - 1, "", "", "", "", data, keys}
	}
	return r
}

// asked returns the generation and the answers of a script for n keys.
func (f *Filter) asked(r *request, l *life, n int) (generation uint64, answers string, err error) {
	reply, err := r.text()
	if err != nil {
		return 0, "", f.explain(r.shard, l, err)
	}
	if len(reply) != 8+(n+7)/8 {
		return 0, "", fmt.Errorf("redisfilter: key %q: a reply of %d bytes to %d keys", r.shard.name, len(reply), n)
	}
	return wholeOf(math.Float64frombits(binary.LittleEndian.Uint64([]byte(reply[:8])))), reply[8:], nil
}
