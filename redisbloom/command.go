package redisbloom

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// once is a command that the client must not send a second time. Clients retry
// when a reply is lost. An add that was executed but whose reply was lost would
// find its own bits the second time and answer "seen" for a key that nobody was
// told is new.
type once struct{ *redis.IntSliceCmd }

// NoRetry tells the client.
func (once) NoRetry() bool { return true }

// onceAny is once for commands that answer something else than integers.
type onceAny struct{ *redis.Cmd }

// NoRetry tells the client.
func (onceAny) NoRetry() bool { return true }

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
		return once{replies}, replies, before
	}
	return replies, replies, before
}

// await runs do, but does not wait for it longer than ctx allows: the client
// itself gives up a reply only when its read timeout is over. What do writes to
// may be read only if await returns nil.
func await(ctx context.Context, do func()) error {
	if ctx.Done() == nil {
		do()
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do sends one command that may be repeated, and returns its reply.
func do(ctx context.Context, client redis.UniversalClient, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	return finish(ctx, client, cmd, cmd)
}

// doOnce sends one command that the client must not repeat.
func doOnce(ctx context.Context, client redis.UniversalClient, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	return finish(ctx, client, onceAny{cmd}, cmd)
}

func finish(ctx context.Context, client redis.UniversalClient, cmd redis.Cmder, reply *redis.Cmd) (any, error) {
	if err := await(ctx, func() { client.Process(ctx, cmd) }); err != nil {
		return nil, err
	}
	return reply.Result()
}

// getRange reads bytes [from, to] of a key; a missing key reads as empty.
func getRange(ctx context.Context, client redis.UniversalClient, key string, from, to uint64) ([]byte, error) {
	v, err := do(ctx, client, "GETRANGE", key, from, to)
	if err != nil {
		return nil, explain(key, err)
	}
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("redisbloom: key %q: GETRANGE answered %T, want a string", key, v)
	}
	return []byte(s), nil
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
