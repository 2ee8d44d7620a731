// Package bitmap uses Bloom filters in plain Redis bitmaps, so that other services and libraries can share them. A
// bitmap has no header, and position i is bit i of SETBIT.
//
//	layout, err := bitmap.GoZero(1 << 20) // the layout of the service that made the bitmap
//	if err != nil {
//		return err
//	}
//	f, err := bitmap.Open(client, "orders", layout, 0, false) // without a TTL
//	if err != nil {
//		return err
//	}
//	added, err := f.Add(ctx, order)
//
// The example of [Positions] implements the layout of another library.
//
// For all other purposes, use a redisfilter.Filter. A bitmap does not show m, k or the hash: a process with other
// parameters gets no error, and does not find the keys of others. A missing bitmap is an empty filter. Errors wrap the
// errors of package redisfilter.
package bitmap

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// maxBits is the length of the longest string in Redis.
const maxBits = 1 << 32

// Positions computes the positions of a key. AppendPositions must append the same number of positions below 2^32 for
// every key. A bloom.Scheme has this method.
type Positions interface {
	AppendPositions(dst []uint64, key []byte) []uint64
}

// A Filter is a Bloom filter in a plain bitmap. Make one with [Open]. Methods of the zero Filter panic, except String
// and LogValue. A Filter is safe for concurrent use.
type Filter struct {
	sender    *send.Sender
	key       string
	positions Positions
	k         int
	ttl       time.Duration
	renew     bool
}

// Open returns the filter in the bitmap at key. The bitmap may be missing. Open sends nothing. positions is
// [RueidisProb], [GoZero] or a scheme such as
//
//	bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz32))
//
// Guava has two strategies. The class BloomFilterHelper of many tutorials has the positions of guava.Mitz32. Guava's
// own filters since release 17 have the positions of guava.Mitz64. With the wrong strategy there is no error, but keys
// are not found: look up some known keys first, as the example does.
//
// If ttl is not 0, an add sets it as the TTL of a bitmap that has none. With renew, each add sets the TTL, even if its
// keys are present. Adds with a TTL run a script that sets the bits and the TTL in one step. The error wraps
// bloom.ErrInvalid, or bloom.ErrTooLarge for more than 2^32 bits.
func Open(client redis.UniversalClient, key string, positions Positions, ttl time.Duration, renew bool) (*Filter, error) {
	sender, err := send.New(client, 0, 0)
	switch s, isScheme := positions.(*bloom.Scheme); {
	case err != nil:
	case ttl < 0 || ttl > 0 && ttl < time.Millisecond || ttl == 0 && renew:
		err = send.Errorf(bloom.ErrInvalid, "TTL %v, want at least 1ms, or 0 for none that is never renewed", ttl)
	case positions == nil || isScheme && errors.Is(s.Portable(), bloom.ErrInvalid): // nil or the zero Scheme
		err = send.Errorf(bloom.ErrInvalid, "no positions, want a Scheme of NewScheme")
	case isScheme && s.Params().M > maxBits:
		err = send.Errorf(bloom.ErrTooLarge, "m = %d bits, want at most %d", s.Params().M, uint64(maxBits))
	case isScheme:
		if err = s.Portable(); err != nil {
			err = send.WithKind(bloom.ErrInvalid, err)
		}
	}
	if err != nil {
		return nil, &send.Error{Err: err}
	}
	k := len(positions.AppendPositions(nil, nil))
	return &Filter{sender: sender, key: key, positions: positions, k: k, ttl: ttl, renew: renew}, nil
}

// Add adds a key, see redisfilter.Filter.Add. At most one call gets true for a key. An add without a reply is not sent
// again: the answer is true, and the error a redisfilter.AddError.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return batch.Run(ctx, f.sender, f.key, true, keys, added, f.command)
}

// Contains returns false if the key is definitely not in the bitmap, true if it probably is.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany looks up keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return batch.Run(ctx, f.sender, f.key, false, keys, found, f.command)
}

// command looks up keys by one BITFIELD_RO for all their bits. It adds keys by one BITFIELD, or by the script if there
// is a TTL.
func (f *Filter) command(ctx context.Context, add bool, keys [][]byte, answers []bool) error {
	positions := make([]uint64, 0, len(keys)*f.k)
	for i, key := range keys {
		positions = f.positions.AppendPositions(positions, key)
		if n := len(positions) - i*f.k; f.k == 0 || n != f.k {
			panic(fmt.Sprintf("redisfilter: %d positions for a key and %d for another, want as many", n, f.k))
		}
	}
	var bits []bool
	var failed, err error // failed is the error of PEXPIRE
	var call *send.Call
	if add && f.ttl > 0 {
		bits, failed, call, err = f.addWithTTL(ctx, positions)
	} else {
		bits, call, err = f.bitfield(ctx, add, positions)
	}
	switch {
	case err == nil:
	case add:
		return batch.Unanswered(call, len(keys), err)
	default:
		return err
	}
	for i := range keys {
		answers[i] = slices.Contains(bits[i*f.k:(i+1)*f.k], false) == add
	}
	if err := batch.Repeated(call, answers); err != nil {
		return err
	}
	if failed != nil {
		return &redisfilter.AddError{Err: fmt.Errorf("added without a TTL: %w", failed)}
	}
	return nil
}

// bitfield looks up or sets bits and returns their old values.
func (f *Filter) bitfield(ctx context.Context, set bool, positions []uint64) ([]bool, *send.Call, error) {
	args := make([]any, 2, 2+4*len(positions))
	args[0], args[1] = "BITFIELD_RO", f.key
	if set {
		args[0] = "BITFIELD"
	}
	for _, pos := range positions {
		if set {
			args = append(args, "SET", "u1", pos, 1)
		} else {
			args = append(args, "GET", "u1", pos)
		}
	}
	cmd := redis.NewIntSliceCmd(ctx, args...)
	call := &send.Call{Key: f.key, Cmd: cmd, Add: set}
	if f.sender.Send(ctx, call); call.Err() != nil {
		return nil, call, call.Err()
	}
	values := cmd.Val()
	if len(values) != len(positions) {
		return nil, call, fmt.Errorf("%d replies, want %d", len(values), len(positions))
	}
	bits := make([]bool, len(values))
	for i, bit := range values {
		bits[i] = bit != 0
	}
	return bits, call, nil
}

var (
	//go:embed add.lua
	source string
	sha    = redis.NewScript(source).Hash()
)

// addWithTTL sets bits by the script and returns their old values, and the error of PEXPIRE.
func (f *Filter) addWithTTL(ctx context.Context, positions []uint64) (bits []bool, failed error, call *send.Call, err error) {
	args := append(make([]any, 0, 6+len(positions)), "EVALSHA", sha, 1, f.key, f.ttl.Milliseconds(), f.renew)
	for _, pos := range positions {
		args = append(args, pos)
	}
	cmd := redis.NewCmd(ctx, args...)
	call = &send.Call{Key: f.key, Cmd: cmd, Add: true}
	if f.sender.Send(ctx, call); send.Code(call.Err()) == "NOSCRIPT" {
		cmd = redis.NewCmd(ctx, append([]any{"EVAL", source}, args[2:]...)...)
		call = &send.Call{Key: f.key, Cmd: cmd, Add: true}
		f.sender.Send(ctx, call)
	}
	if call.Err() != nil {
		return nil, nil, call, call.Err()
	}
	reply, err := send.As[string](cmd.Val())
	if err == nil && len(reply) < len(positions) {
		err = fmt.Errorf("a reply of %d bytes, want %d", len(reply), len(positions))
	}
	if err != nil {
		return nil, nil, call, err
	}
	bits = make([]bool, len(positions))
	for i := range bits {
		bits[i] = reply[i] == '1'
	}
	if text := reply[len(positions):]; text != "" {
		failed = errors.New(text)
	}
	return bits, failed, call, nil
}

// Stats describes the filter. The server counts the bits. N and P come from the scheme. M comes from the scheme or
// [GoZero]; otherwise it is the length of the value in bits.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	length, err := send.Do[int64](ctx, f.sender.Must(), f.key, "STRLEN", f.key)
	if err != nil {
		return bloom.Stats{}, send.Explain(f.key, err)
	}
	size := uint64(length)
	stats, strategy := bloom.Stats{Params: bloom.Params{M: 8 * size, K: f.k}, SizeBytes: size}, bloom.DoubleHashing
	switch s := f.positions.(type) {
	case goZero:
		stats.M = uint64(s)
	case *bloom.Scheme:
		strategy = s.Strategy()
		stats.Params, stats.Strategy, stats.Hash = s.Params(), strategy.Name(), s.Hash().Name()
	}
	if stats.Ones, err = f.sender.Ones(ctx, f.key, 0, stats.SizeBytes); err != nil || stats.M == 0 {
		return stats, send.Explain(f.key, err)
	}
	stats.EstimatedCount, stats.EstimatedFalsePositiveRate = send.Estimate(strategy, stats.M, f.k, stats.Ones)
	return stats, nil
}

// String describes the filter in a line for a log, without a round trip.
func (f *Filter) String() string {
	if f.sender == nil {
		return "bitmap.Filter(zero)"
	}
	return fmt.Sprintf("bitmap.Filter(key=%q k=%d ttl=%v)", f.key, f.k, f.ttl)
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }
