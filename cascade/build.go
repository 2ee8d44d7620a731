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
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
)

// ErrConflict means that a key is in both lists. Two different keys with the same digest count as
// one key. With Murmur3 only chosen keys collide; bloom.WithSecret prevents that. With a hash of 64
// bits, such as bloom.RapidHash, r keys of one list and s of the other collide with probability
// r·s/2^64.
var ErrConflict = errors.New("bloom: a key is in both lists")

// A digest is the hash of a key.
type digest struct{ h1, h2 uint64 }

func (d digest) compare(e digest) int {
	if c := cmp.Compare(d.h1, e.h1); c != 0 {
		return c
	}
	return cmp.Compare(d.h2, e.h2)
}

// New makes the cascade of two lists: in yields the keys of the first list, out the keys of the second. A list may
// yield a key several times, in any order, and may reuse the key's memory. New reads the lists more than once; they
// must yield the same keys each time. An error from a list ends New.
//
// p is the rate of the first level, for keys in neither list. p = 0 means the rate that makes the cascade smallest,
// about sqrt(1/2)·r/s for r keys in and s keys out: use it if only keys of the two lists are looked up. If the strategy
// cannot have that rate, the first level has a larger one. Any other p takes more memory. A p below this rate p0 takes
// up to about 1.44·log2(p0/p) bits more per key of the first list.
//
// The options are for [bloom.New]. [bloom.WithMaxBytes] limits the bits of all levels
// together. The strategy must work on a key's digest.
//
// New hashes the second list twice, or three times with p = 0, on all processors. It needs about 32 bytes for each key
// of the first list and for each key of the second list that passes the first level. Until the garbage collector runs,
// it needs up to twice as much.
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
		return nil, failure.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1, or 0 for the smallest cascade", p)
	}
	if in == nil || out == nil {
		return nil, failure.Errorf(bloom.ErrInvalid, "a list is nil, want one that yields nothing for no keys")
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
		p = smallest(uint64(len(inside)), max(outs, 1), opts)
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
			return nil, fmt.Errorf("%w: %d levels of strategy %q with hash %q do not separate the lists: %d keys are left",
				bloom.ErrInvalid, i, sample.Strategy(), sample.Hash(), len(now))
		}
		if err := c.append(later, now, opts); err != nil {
			return nil, err
		}
		f := c.filters[i]
		passed := slices.DeleteFunc(before, func(d digest) bool { return !f.ContainsDigest(level(d.h1, d.h2, i)) })
		before, now = now, passed
	}
	return c, nil
}

// append adds a level for these keys, with rate p.
func (c *Cascade) append(p float64, keys []digest, opts []bloom.Option) error {
	s, err := bloom.NewScheme(uint64(len(keys)), p, layered.Left(opts, c.SizeBytes())...)
	if err != nil {
		return err
	}
	b, err := s.Builder()
	if err != nil {
		return err
	}
	for _, d := range keys {
		b.AddDigest(level(d.h1, d.h2, len(c.filters)))
	}
	c.filters = append(c.filters, b.Filter())
	return nil
}

// distinct sorts the digests and drops duplicates.
func distinct(digests []digest) []digest {
	slices.SortFunc(digests, digest.compare)
	return slices.Compact(digests)
}

// A batch of collect ends when it has batchKeys keys or at least batchBytes bytes.
const (
	batchKeys  = 4096
	batchBytes = 1 << 20
)

type wanted func(h1, h2 uint64) bool

// collect hashes a list on all processors. It returns the digests for which the function wanted returns true, in any
// order, and the number of all keys.
func collect(ctx context.Context, hasher *bloom.Scheme, list iter.Seq2[[]byte, error], wanted wanted) ([]digest, uint64, error) {
	type batch struct {
		bytes []byte
		ends  []int
	}
	batches := make(chan batch)
	free := make(chan batch, 2*runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	var found [][]digest // by batch: one slice that grows would take more than twice the memory
	var broken func()    // repeats a panic or Goexit of a worker, from a custom hash or strategy
	working, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			ended := runtime.Goexit
			defer func() {
				if why := recover(); why != nil {
					ended = func() { panic(why) }
				}
				if ended != nil {
					mu.Lock()
					broken = ended
					mu.Unlock()
					stop()
				}
			}()
			mine := make([]digest, 0, batchKeys)
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
				mu.Lock()
				found = append(found, slices.Clone(mine))
				mu.Unlock()
				mine = mine[:0]
			}
			ended = nil
		}()
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
		case <-working.Done():
			err = context.Cause(working)
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
	if broken != nil {
		broken()
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // a list that ends because of ctx may yield no error
	}
	return slices.Concat(found...), count, err
}

// conflict returns an ErrConflict that names the key of the second list with this digest.
func conflict(hasher *bloom.Scheme, out iter.Seq2[[]byte, error], d digest) error {
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
