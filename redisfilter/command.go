package redisfilter

import (
	"context"
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// The words of a BITFIELD as interfaces, so that a command's many arguments need
// no allocation each.
var (
	wordBitfield   any = "BITFIELD"
	wordBitfieldRO any = "BITFIELD_RO"
	wordGet        any = "GET"
	wordSet        any = "SET"
	wordIncrement  any = "INCRBY"
	wordBit        any = "u1"
	word64         any = "i64"
	word32         any = "u32"
	argMarkBit     any = markBit
	argMark        any = uint64(mark)
	argOne         any = 1
)

// scriptFrom is from how many keys on a script costs the server less than a BITFIELD.
const scriptFrom = 4

// orphanBytes is the length of a value from which a script is sent for a single key, too: a
// BITFIELD on a key that has vanished first makes an orphan of that length, which near Redis's
// limit takes the server 180 ms and 512 MiB. For the shards that are made unless told otherwise
// it is at most 10 ms, once, and a script for each single key would cost them a fifth of their
// speed.
const orphanBytes = 40 << 20

// command makes the command of a part.
func (f *Filter) command(ctx context.Context, add bool, p *part) {
	if p.slot != nil {
		p.least = p.slot.number.Load()
		if add {
			p.least++
		}
	}
	p.command = &send.Command{Key: p.shard.name}
	p.values, p.packed = nil, nil
	if add && f.script > 0 && !f.noScripts.Load() && (len(p.keys) >= scriptFrom || f.layout.length >= orphanBytes) && f.evalsha(ctx, p) {
		return
	}
	f.bitfield(ctx, add, p)
}

// bitfield makes the one command for the bits of many keys. Redis counts the bits of a byte
// from the high end, we count from the low one; with the last three bits of a position
// flipped, the value's bytes are our words, and Push and Pull need no conversion. A whole
// word comes with its bytes in reverse.
func (f *Filter) bitfield(ctx context.Context, add bool, p *part) {
	fields := len(p.positions)
	if !add && f.byWords {
		fields = len(p.words)
	}
	each := 3 // arguments
	if add {
		each = 4
	}
	args := make([]any, 0, 15+each*fields)
	offsets := make([]uint64, 0, fields+5)
	at := func(bit uint64) any {
		offsets = append(offsets, bit)
		return &offsets[len(offsets)-1]
	}
	verb := wordBitfieldRO
	if add {
		verb = wordBitfield
	}
	args = append(args, verb, p.shard.name)
	p.before = 1
	switch {
	case add:
		args = append(args, wordIncrement, word64, at(p.slot.at*8), argOne, wordSet, word32, argMarkBit, argMark)
		p.before = 2
		if used, due := p.slot.touch(); due {
			args = append(args, wordSet, word32, at((p.slot.at+usedAt)*8), used)
			p.before = 3
		}
	case p.slot != nil:
		args = append(args, wordGet, word64, at(p.slot.at*8))
	default:
		args = append(args, wordGet, word64, at(f.layout.tail*8))
	}
	size := 100 + len(p.shard.name)
	switch {
	case add:
		for _, pos := range p.positions {
			args = append(args, wordSet, wordBit, at(headerBits+pos^7), argOne)
			size += 30 + digits(pos)
		}
	case f.byWords:
		for _, w := range p.words {
			args = append(args, wordGet, word64, at(headerBits+w.index*64))
			size += 24 + digits(w.index*64)
		}
	default:
		for _, pos := range p.positions {
			args = append(args, wordGet, wordBit, at(headerBits+pos^7))
			size += 23 + digits(pos)
		}
	}
	f.counts.Bytes.Add(uint64(size))
	p.values = redis.NewIntSliceCmd(ctx, args...)
	if p.command.Cmd = p.values; add {
		p.command.Cmd = send.OnceInts{IntSliceCmd: p.values}
	}
}

// evalsha makes the command that calls a script. It reports false if the keys are not such
// as the script can add.
func (f *Filter) evalsha(ctx context.Context, p *part) bool {
	data := make([]byte, 0, len(p.keys)*(8*f.script+24))
	begin := 0
	for _, end := range p.ends {
		var ok bool
		if data, ok = appendPacked(data, p.words[begin:end], f.script); !ok {
			return false
		}
		begin = end
	}
	s, verb, source := scripts[f.script], "EVALSHA", ""
	if source = s.sha; p.reload {
		verb, source = "EVAL", s.source
	}
	owner := binary.BigEndian.AppendUint32(nil, uint32(p.slot.owner()))
	used := binary.BigEndian.AppendUint32(nil, uint32(p.slot.now()))
	p.packed = redis.NewCmd(ctx, verb, source, 1, p.shard.name, p.slot.at, p.slot.at+7, owner, used, data)
	p.command.Cmd = send.Once{Cmd: p.packed}
	f.counts.Bytes.Add(uint64(150 + len(p.shard.name) + len(data)))
	return true
}

// digits returns about how many decimal digits n has.
func digits(n uint64) int { return bits.Len64(n)*1233>>12 + 1 }

// beside returns a name in the same cluster slot as key.
func beside(key, suffix string) string {
	if hashTag(key) != "" {
		return key + suffix
	}
	return "{" + key + "}" + suffix
}

// hashTag returns the part of a key that alone decides about its slot, or "" if
// all of it does.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return ""
	}
	tag, _, ok := strings.Cut(rest, "}")
	if !ok {
		return ""
	}
	return tag
}
