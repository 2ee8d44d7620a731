package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// add sends a command that adds for each batch that gets a lane.
func (f *handle) add(ctx context.Context, batches []*batch) {
	held := takeLanes(ctx, batches)
	defer func() {
		for _, b := range held {
			b.slot.release(b.ticket)
		}
	}()
	var requests []*request
	var sent []*batch
	for _, b := range held {
		layers, args, err := f.plan.mode.adding(b.value.known(), b.state, b.slot.stamp())
		if err != nil {
			b.err = err
			continue
		}
		data, words := b.pack(f.plan.scheme, layers, b.done, b.next())
		args = append(append(b.slot.args(b.value.epoch, b.ticket), data, b.next()-b.done, words), args...)
		f.count(b.next()-b.done, 170+len(data))
		requests = append(requests, &request{keys: []string{b.shard.name}, script: addScript, args: args, add: true})
		sent = append(sent, b)
	}
	f.exec(ctx, requests...)
	for i, b := range sent {
		f.added(b, requests[i])
	}
}

// takeLanes returns the batches that get a lane. If none does, it waits for one, and holds none while it waits.
func takeLanes(ctx context.Context, batches []*batch) (held []*batch) {
	for _, b := range batches {
		var ok bool
		if b.ticket, ok = b.slot.take(); ok {
			held = append(held, b)
		}
	}
	if len(held) > 0 {
		return held
	}
	b := batches[0]
	if b.ticket, b.err = b.slot.wait(ctx); b.err != nil {
		return nil
	}
	return batches[:1]
}

// added reads the reply to an add.
func (f *handle) added(b *batch, r *request) {
	last := b.next()
	text, err := reply[string](r)
	if send.Code(err) == send.More {
		state, ok := numberIn(err)
		if _, impossible := f.plan.mode.reading(state); !ok || state == b.state || impossible != nil {
			b.err = f.onLost(b.value, isOlder)
			return
		}
		raise(&b.value.state, state)
		b.state = state
		b.value.hear(0)
		if b.repacked++; b.repacked > 10 {
			b.err = fmt.Errorf("a generation ended during each of %d attempts to add", b.repacked)
		}
		return
	}
	var done int
	var ms float64
	if err == nil {
		ms, done, err = decodeAdded(text, last-b.done)
	} else if r.call.NotExecuted() {
		b.err = f.refused(b.value, b.slot, err)
		return
	}
	if err != nil {
		b.err = f.refused(b.value, b.slot, err)
		f.sender.Counts.Unknown.Add(uint64(last - b.done))
		b.settle(last, unknown)
		return
	}
	b.slot.confirm(b.ticket)
	b.value.hear(ms)
	raise(&b.value.state, b.state)
	fate := answered
	if err := f.sender.Confirmed(r.call); err != nil {
		fate, b.warning = unconfirmed, err
	}
	for i := range done {
		b.answers[b.indices[b.done+i]] = text[10+i/8]>>(i%8)&1 == 1
		if fate == answered {
			b.value.cache.learn(b.positionsOf(b.done + i))
		}
	}
	b.settle(b.done+done, fate)
	if b.done < last {
		b.state, b.err = f.plan.mode.full(b.value.known(), b.state)
	}
}

// decodeAdded reads the numbers of a reply to an add of n keys.
func decodeAdded(reply string, n int) (ms float64, done int, err error) {
	if len(reply) >= 10 {
		b := []byte(reply[:10])
		ms, done = math.Float64frombits(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint16(b[8:]))
		if ms >= 0 && ms < 1<<53 && done <= n && len(reply) == 10+(done+7)/8 {
			return ms, done, nil
		}
	}
	return 0, 0, fmt.Errorf("a reply of %d bytes to %d keys, want 10 and a bit for each", len(reply), n)
}

// A block is the bits of a key in its block of 512: where it is, and a mask per word.
type block struct {
	index uint64
	masks [blockBytes / 8]uint64
}

func blockOf(positions []uint64) block {
	b := block{index: positions[0] / 512}
	for _, pos := range positions {
		b.masks[pos%512/64] |= 1 << (pos % 64)
	}
	return b
}

// appendTo appends a key as add.lua reads it: where its first word begins and its last one ends, and the masks with their
// distance to the first word. Empty masks make up for words that are less than wanted.
func (b *block) appendTo(dst []byte, at uint64, words, wanted int) []byte {
	var used [len(b.masks)]bool
	first, last := -1, 0
	for i, mask := range b.masks {
		if used[i] = mask != 0; !used[i] && words < wanted {
			used[i] = true
			words++
		}
		if used[i] {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	at += b.index * blockBytes
	dst = appendDecimal(appendDecimal(dst, at+uint64(first)*8), at+uint64(last)*8+7)
	for i, mask := range b.masks {
		if used[i] {
			dst = append(dst, byte(8*(i-first)))
			dst = binary.LittleEndian.AppendUint64(dst, mask)
		}
	}
	return dst
}

// appendDecimal appends a number in decimal digits, with their number before them.
func appendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}

// blockOf returns the bits of key i in a layer. The positions of a key are known in the scheme first.
func (b *batch) blockOf(i int, l layer, first bloom.Scheme) block {
	if l.scheme == first {
		return blockOf(b.positionsOf(i))
	}
	b.room = l.scheme.AppendPositions(b.room[:0], b.keys[i])
	return blockOf(b.room)
}

// pack writes keys [from, to) of a batch for add.lua, in layers, newest first. It returns the most words per
// key of any layer.
func (b *batch) pack(first bloom.Scheme, layers []layer, from, to int) (data []byte, words int) {
	for _, l := range layers {
		words = max(words, l.words)
	}
	dst := make([]byte, 0, (to-from)*(2+len(layers)*(22+9*words)))
	for i := from; i < to; i++ {
		begin := len(dst)
		dst = append(dst, 0, 0)
		for _, l := range layers {
			block := b.blockOf(i, l, first)
			dst = block.appendTo(dst, l.at, l.words, words)
		}
		binary.LittleEndian.PutUint16(dst[begin:], uint16(len(dst)-begin-2))
	}
	return dst, words
}
