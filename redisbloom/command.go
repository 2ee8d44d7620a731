package redisbloom

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// The words of a BITFIELD as interfaces, so that a command's many arguments need
// no allocation each.
var (
	wordBitfield   any = "BITFIELD"
	wordBitfieldRO any = "BITFIELD_RO"
	wordGet        any = "GET"
	wordSet        any = "SET"
	wordBit        any = "u1"
	wordEpoch      any = "i64"
	wordMark       any = "u32"
	argEpochBit    any = epochBit
	argMarkBit     any = markBit
	argMark        any = uint64(mark)
	argOne         any = 1
)

// bitfield is the one command for the bits of many keys. Its replies are the old
// bits in the order of offsets, after as many others as before says.
func bitfield(ctx context.Context, key string, withHeader, add bool, offsets []uint64) (cmd redis.Cmder, replies *redis.IntSliceCmd, before int) {
	args := make([]any, 0, 9+4*len(offsets))
	verb := wordBitfieldRO
	if add {
		verb = wordBitfield
	}
	args = append(args, verb, key)
	if withHeader {
		args = append(args, wordGet, wordEpoch, argEpochBit)
		before = 1
		if add {
			args = append(args, wordSet, wordMark, argMarkBit, argMark)
			before = 2
		}
	}
	for i := range offsets {
		if add {
			args = append(args, wordSet, wordBit, &offsets[i], argOne)
		} else {
			args = append(args, wordGet, wordBit, &offsets[i])
		}
	}
	replies = redis.NewIntSliceCmd(ctx, args...)
	if add {
		return send.OnceInts{IntSliceCmd: replies}, replies, before
	}
	return replies, replies, before
}

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
