package redisbloom

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// Positions says where a key's bits are: bloom.Scheme does. It appends the same
// number of positions for every key, in the same order for ever, and is called
// from many goroutines at once.
type Positions interface {
	AppendPositions(dst []uint64, key []byte) []uint64
}

// bitsOf adds and asks for keys in a plain bitmap.
type bitsOf struct {
	sender    send.Sender
	key       string
	positions Positions
	k         int
}

// many is AddMany and ContainsMany.
func (b *bitsOf) many(ctx context.Context, add bool, keys [][]byte, answers []bool) (count int, err error) {
	if answers == nil {
		answers = make([]bool, len(keys))
	} else if len(answers) != len(keys) {
		panic("redisbloom: answers are neither nil nor as long as keys")
	}
	clear(answers)
	var failed AddError
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		p := &part{keys: indices(first, last)}
		if p.err = ctx.Err(); p.err == nil {
			p.err = b.batch(ctx, add, p, keys[first:last], answers[first:last])
		}
		p.err = send.Explain(b.key, p.err)
		for _, yes := range answers[first:last] {
			if yes {
				count++
			}
		}
		if p.err != nil && !add {
			return count, p.err
		}
		if p.err != nil {
			failed.note(p, 0)
			if !p.unconfirmed {
				failed.NotAdded = append(failed.NotAdded, indices(last, len(keys))...)
				break
			}
		}
	}
	if failed.Err == nil {
		return count, nil
	}
	slices.Sort(failed.NotAdded)
	return count, &failed
}

func (b *bitsOf) batch(ctx context.Context, add bool, p *part, keys [][]byte, answers []bool) error {
	var positions []uint64
	for i, key := range keys {
		positions = b.positions.AppendPositions(positions, key)
		if n := len(positions) - i*b.k; n != b.k {
			panic(fmt.Sprintf("redisbloom: %d positions for a key and %d for another, want as many", n, b.k))
		}
	}
	args := make([]any, 0, 2+4*len(positions))
	if add {
		args = append(args, wordBitfield, b.key)
	} else {
		args = append(args, wordBitfieldRO, b.key)
	}
	for i := range positions {
		if add {
			args = append(args, wordSet, wordBit, &positions[i], argOne)
		} else {
			args = append(args, wordGet, wordBit, &positions[i])
		}
	}
	values := redis.NewIntSliceCmd(ctx, args...)
	p.command = &send.Command{Key: b.key, Cmd: values}
	way := b.sender.Ask
	if add {
		p.command.Cmd, way = send.OnceInts{IntSliceCmd: values}, b.sender.Add
	}
	if err := way(ctx, []*send.Command{p.command}); err != nil {
		return err
	}
	bits, err := values.Result()
	if err != nil {
		p.refused = send.NotExecuted(err)
		return err
	}
	if len(bits) != len(positions) {
		return fmt.Errorf("%d replies, want %d", len(bits), len(positions))
	}
	for i := range keys {
		answers[i] = slices.Contains(bits[i*b.k:(i+1)*b.k], 0) == add
	}
	err = b.sender.Confirmed(p.command)
	p.unconfirmed = err != nil
	return err
}
