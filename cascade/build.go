package cascade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom"
)

// ErrConflict means that a key is in both lists. (Two different keys with the same
// digest are taken for one key. With Murmur3 that does not happen unless somebody made
// them; bloom.WithKey is the remedy. With a hash of 64 bits, such as bloom.RapidHash, it does
// happen to r keys of the one list and s of the other with probability r·s/2^64.)
var ErrConflict = errors.New("cascade: a key is in both lists")

// A digest is the hash of a key.
type digest struct{ h1, h2 uint64 }

func (d digest) compare(e digest) int {
	if c := cmp.Compare(d.h1, e.h1); c != 0 {
		return c
	}
	return cmp.Compare(d.h2, e.h2)
}

// New makes the cascade of two lists. Each may yield a key several times, in any order,
// and may use the same memory for the next key. New takes the lists more than once, and
// they must yield the same keys each time. An error that a list yields ends New.
//
// p is the rate of the first level, for keys that are in neither list. p = 0 stands for
// the rate that makes the cascade the smallest, about sqrt(1/2)·r/s for r keys that are in
// and s that are out: choose it where no other keys are asked for. Any other costs memory:
// a smaller one log2 of the difference for each key that is in.
//
// The options are those of [bloom.New]: hash, seed or key, strategy, and WithMaxBytes for
// the bits of all levels together. The strategy must work on a key's digest.
//
// It takes as much time as to hash the second list twice (three times with p = 0), on all
// processors, and memory for the digests of the first list, 16 bytes each, and for those
// keys of the second that pass the first level.
//
// The error wraps [bloom.ErrInvalid] or [bloom.ErrTooLarge] as that of bloom.New does, or
// [ErrConflict], or is that of ctx or of a list.
func New(ctx context.Context, p float64, in, out iter.Seq2[[]byte, error], opts ...bloom.Option) (*Cascade, error) {
	sample, err := bloom.NewScheme(1, later, opts...)
	if err != nil {
		return nil, err
	}
	if sample.Strategy().NeedsKey() {
		return nil, fmt.Errorf("%w: strategy %q needs the key itself, want one that works on its digest", bloom.ErrInvalid, sample.Strategy())
	}
	if p != 0 && !(p > 0 && p < 1) {
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1, or 0 for the smallest cascade", bloom.ErrInvalid, p)
	}
	if in == nil || out == nil {
		return nil, fmt.Errorf("%w: a list is nil, want one that yields nothing for no keys", bloom.ErrInvalid)
	}
	all := func(h1, h2 uint64) bool { return true }
	inside, _, err := collect(ctx, sample, in, all)
	if err != nil {
		return nil, err
	}
	inside = distinct(inside)
	c := &Cascade{}
	if len(inside) == 0 {
		return c, nil
	}
	if p == 0 {
		_, outs, err := collect(ctx, sample, out, func(h1, h2 uint64) bool { return false })
		if err != nil {
			return nil, err
		}
		p = smallest(uint64(len(inside)), max(outs, 1))
	}
	if err := c.append(p, inside, opts); err != nil {
		return nil, err
	}
	outside, _, err := collect(ctx, sample, out, c.filters[0].ContainsDigest)
	if err != nil {
		return nil, err
	}
	outside = distinct(outside)
	for _, d := range outside {
		if _, both := slices.BinarySearchFunc(inside, d, digest.compare); both {
			return nil, conflict(sample, out, d)
		}
	}
	for before, now := inside, outside; len(now) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		i := len(c.filters)
		if i == maxLevels {
			return nil, fmt.Errorf("%w: after %d levels, hash %q has not told %d keys apart: want a better one", bloom.ErrInvalid, i, sample.Hash(), len(now))
		}
		if err := c.append(later, now, opts); err != nil {
			return nil, err
		}
		f := c.filters[i]
		passed := slices.DeleteFunc(slices.Clone(before), func(d digest) bool { return !f.ContainsDigest(level(d.h1, d.h2, i)) })
		before, now = now, passed
	}
	return c, nil
}

// append adds a level with these keys.
func (c *Cascade) append(p float64, keys []digest, opts []bloom.Option) error {
	room := bloom.MaxBytes(opts...) - c.SizeBytes()
	f, err := bloom.New(uint64(len(keys)), p, append(opts[:len(opts):len(opts)], bloom.WithMaxBytes(room))...)
	if err != nil {
		return err
	}
	for _, d := range keys {
		f.AddDigest(level(d.h1, d.h2, len(c.filters)))
	}
	c.filters = append(c.filters, f)
	return nil
}

// distinct sorts the digests and leaves each once.
func distinct(digests []digest) []digest {
	slices.SortFunc(digests, digest.compare)
	return slices.Compact(digests)
}

// batchKeys are hashed by one goroutine at a time, or fewer that have batchBytes: keys may be large.
const (
	batchKeys  = 4096
	batchBytes = 1 << 20
)

// collect hashes a list on all processors, and returns the digests that are wanted and
// the number of keys.
func collect(ctx context.Context, hasher bloom.Scheme, list iter.Seq2[[]byte, error], wanted func(h1, h2 uint64) bool) ([]digest, uint64, error) {
	type batch struct {
		bytes []byte
		ends  []int
	}
	batches := make(chan batch)
	free := make(chan batch, 2*runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	var found []digest
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var mine []digest
			for b := range batches {
				start := 0
				for _, end := range b.ends {
					if h1, h2 := hasher.Digest(b.bytes[start:end]); wanted(h1, h2) {
						mine = append(mine, digest{h1, h2})
					}
					start = end
				}
				select {
				case free <- batch{b.bytes[:0], b.ends[:0]}:
				default:
				}
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, mine...)
		})
	}
	end := sync.OnceFunc(func() {
		close(batches)
		workers.Wait()
	})
	defer end() // also if the list panics
	count, err := uint64(0), error(nil)
	var b batch
	send := func() bool {
		select {
		case batches <- b:
			count += uint64(len(b.ends))
		case <-ctx.Done():
			err = context.Cause(ctx)
			return false
		}
		select {
		case b = <-free:
		default:
			b = batch{}
		}
		return true
	}
	for key, failed := range list {
		if failed != nil {
			err = failed
			break
		}
		b.bytes = append(b.bytes, key...)
		b.ends = append(b.ends, len(b.bytes))
		if (len(b.ends) == batchKeys || len(b.bytes) >= batchBytes) && !send() {
			break
		}
	}
	if err == nil && len(b.ends) > 0 {
		send()
	}
	end()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // a list that ends because of ctx may not say so
	}
	return found, count, err
}

// conflict names the key of the second list that has this digest.
func conflict(hasher bloom.Scheme, out iter.Seq2[[]byte, error], d digest) error {
	for key, err := range out {
		if err != nil {
			return err
		}
		if h1, h2 := hasher.Digest(key); h1 == d.h1 && h2 == d.h2 {
			return fmt.Errorf("%w: %q", ErrConflict, key)
		}
	}
	return fmt.Errorf("%w: one with digest %016x%016x, which the second list no longer has", ErrConflict, d.h1, d.h2)
}
