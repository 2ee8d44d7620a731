package cascade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/layered"
)

// ErrConflict means that a key is in both lists. Two different keys with the same digest count as
// one key. With Murmur3 only chosen keys collide; bloom.WithSecret prevents that. With a hash of 64
// bits, such as bloom.RapidHash, r keys of one list and s of the other collide with probability
// r·s/2^64.
var ErrConflict = errors.New("cascade: a key is in both lists")

// A digest is the hash of a key.
type digest = [2]uint64

func compare(d, e digest) int {
	if c := cmp.Compare(d[0], e[0]); c != 0 {
		return c
	}
	return cmp.Compare(d[1], e[1])
}

// New makes the cascade of two lists. Each list may yield a key several times, in any order, and
// may reuse the key's memory. New reads the lists more than once; they must yield the same keys
// each time. An error from a list ends New.
//
// p is the rate of the first level, for keys in neither list. p = 0 means the rate that makes the
// cascade smallest, about sqrt(1/2)·r/s for r keys in and s keys out: use it if only keys of the
// two lists are looked up. If the strategy cannot have that rate, the first level has a larger one.
// Any other p takes more memory: a p below that rate p0 takes up to about 1.44·log2(p0/p) bits more
// per key of the first list.
//
// The options are for [bloom.New]. [bloom.WithMaxBytes] limits the bits of all levels
// together. The strategy must work on a key's digest.
//
// New reads the second list twice, or three times with p = 0. It takes about 32 bytes per key of the
// first list and per key of the second list that passes the first level, and up to twice as much until
// the garbage collector runs.
//
// The error wraps [ErrConflict], an error of bloom.New, or an error of ctx or of a list.
func New(ctx context.Context, p float64, in, out iter.Seq2[[]byte, error], opts ...bloom.Option) (*Cascade, error) {
	sample, err := bloom.NewScheme(1, later, opts...)
	if err != nil {
		return nil, err
	}
	if err := layered.CheckStrategy(sample, bloom.ErrInvalid); err != nil {
		return nil, err
	}
	if p != 0 && !(p > 0 && p < 1) {
		return nil, format.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1, or 0 for the smallest cascade", p)
	}
	if in == nil || out == nil {
		return nil, format.Errorf(bloom.ErrInvalid, "a list is nil, want one that yields nothing for no keys")
	}
	inside, err := collect(ctx, sample, in, nil)
	if err != nil {
		return nil, err
	}
	c := &Cascade{}
	if len(inside) == 0 {
		return c, nil
	}
	if p == 0 {
		outs, err := each(ctx, out, func([]byte) {})
		if err != nil {
			return nil, err
		}
		p = smallest(uint64(len(inside)), max(outs, 1), opts)
	}
	if err := c.append(p, inside, opts); err != nil {
		return nil, err
	}
	outside, err := collect(ctx, sample, out, c.filters[0])
	if err != nil {
		return nil, err
	}
	for _, d := range outside {
		if _, both := slices.BinarySearchFunc(inside, d, compare); both {
			return nil, conflict(sample, out, d)
		}
	}
	for before, now := inside, outside; len(now) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		i := len(c.filters)
		if i == maxLevels {
			return nil, fmt.Errorf("%w: %d levels of strategy %q with hash %q do not separate the lists: %d keys are left",
				bloom.ErrInvalid, i, sample.Strategy(), sample.Hash(), len(now))
		}
		if err := c.append(later, now, opts); err != nil {
			return nil, err
		}
		f := c.filters[i]
		passed := slices.DeleteFunc(before, func(d digest) bool { return !f.ContainsDigest(level(d[0], d[1], i)) })
		before, now = now, passed
	}
	return c, nil
}

// append adds a level with these keys.
func (c *Cascade) append(p float64, keys []digest, opts []bloom.Option) error {
	f, err := bloom.New(uint64(len(keys)), p, frame.Limited(opts, bloom.MaxBytes(opts...)-c.sizeBytes())...)
	if err != nil {
		return err
	}
	for _, d := range keys {
		f.AddDigest(level(d[0], d[1], len(c.filters)))
	}
	c.filters = append(c.filters, f)
	return nil
}

// each calls use for the keys of a list, and returns how many there are.
func each(ctx context.Context, list iter.Seq2[[]byte, error], use func(key []byte)) (count uint64, err error) {
	for key, err := range list {
		if err != nil {
			return count, err
		}
		use(key)
		if count++; count%1024 == 0 && ctx.Err() != nil {
			break
		}
	}
	return count, context.Cause(ctx) // a list that ends because of ctx may not say so
}

// collect returns the digests of the keys of a list, sorted and each once: of all keys, or of those that f has.
func collect(ctx context.Context, hasher bloom.Scheme, list iter.Seq2[[]byte, error], f *bloom.BloomFilter) ([]digest, error) {
	var parts [][]digest // one slice that grows would take more than twice the memory
	var part []digest
	var group [layered.Group]digest
	n := 0
	end := func() {
		var has [layered.Group]bool
		if f != nil {
			f.ContainsDigests(group[:n], has[:n])
		}
		for i, d := range group[:n] {
			if f == nil || has[i] {
				part = append(part, d)
			}
		}
		if n = 0; len(part) > 1<<16 {
			parts, part = append(parts, part), make([]digest, 0, cap(part))
		}
	}
	_, err := each(ctx, list, func(key []byte) {
		group[n][0], group[n][1] = hasher.Digest(key)
		if n++; n == len(group) {
			end()
		}
	})
	end()
	all := slices.Concat(append(parts, part)...)
	slices.SortFunc(all, compare)
	return slices.Compact(all), err
}

// conflict names the key of the second list that has this digest.
func conflict(hasher bloom.Scheme, out iter.Seq2[[]byte, error], d digest) error {
	for key, err := range out {
		if err != nil {
			return err
		}
		if h1, h2 := hasher.Digest(key); h1 == d[0] && h2 == d[1] {
			return fmt.Errorf("%w: %q", ErrConflict, key)
		}
	}
	return fmt.Errorf("%w: one with digest %016x%016x, which the second list no longer has", ErrConflict, d[0], d[1])
}
