package redisfilter

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Local is a filter in this process with the layout of a plain [Filter]. Fill one for [Filter.Merge], or get one from
// [Filter.Local]. Methods of the zero Local panic, except String and LogValue. All methods are safe for concurrent use.
type Local struct {
	plan   *plan
	shards []*bloom.BloomFilter
}

// NewLocal returns an empty filter with the layout that [Open] chooses for the same arguments.
//
// The error wraps bloom.ErrInvalid, bloom.ErrTooLarge, or bloom.ErrIncompatible for a filter that grows or has a
// window.
func NewLocal(n uint64, p float64, opts ...Option) (*Local, error) {
	o, err := newOptions(opts)
	var f *plan
	if err == nil {
		f, err = newPlan(n, p, o)
	}
	switch {
	case err != nil:
		return nil, &send.Error{Err: err}
	case !f.fixed():
		return nil, errPlain
	}
	return f.local()
}

func (f *plan) local() (*Local, error) {
	l := &Local{plan: f, shards: make([]*bloom.BloomFilter, f.shards)}
	for i := range l.shards {
		var err error
		if l.shards[i], err = f.scheme.Filter(); err != nil {
			return nil, &send.Error{Err: err}
		}
	}
	return l, nil
}

// Filters returns the filters of all shards, for example to save them or to fill them from files.
func (l *Local) Filters() []*bloom.BloomFilter {
	if l.plan == nil {
		panic("redisfilter: use of the zero Local: make one by NewLocal or Filter.Local")
	}
	return l.shards
}

// Add adds a key and reports whether it is new, see bloom.BloomFilter.Add.
func (l *Local) Add(key []byte) bool {
	shard, h1, h2 := l.shardFor(key)
	return l.shards[shard].AddDigest(h1, h2)
}

// Contains reports whether a key was probably added, see bloom.BloomFilter.Contains.
func (l *Local) Contains(key []byte) bool {
	shard, h1, h2 := l.shardFor(key)
	return l.shards[shard].ContainsDigest(h1, h2)
}

// AddMany adds keys in order, as [Local.Add] does. It returns how many were definitely new. If added is not nil,
// AddMany sets added[i] to the answer for keys[i]. It panics if added is neither nil nor as long as keys.
func (l *Local) AddMany(keys [][]byte, added []bool) (count int) {
	return l.many(keys, added, (*bloom.BloomFilter).AddDigests)
}

// ContainsMany looks up keys as [Local.Contains] does. It returns how many were probably added. If found is not nil,
// ContainsMany sets found[i] to the answer for keys[i]. It panics if found is neither nil nor as long as keys.
func (l *Local) ContainsMany(keys [][]byte, found []bool) (count int) {
	return l.many(keys, found, (*bloom.BloomFilter).ContainsDigests)
}

// localBatch is the number of keys that the method many divides by shard at a time.
const localBatch = 4096

func (l *Local) many(keys [][]byte, answers []bool, do func(*bloom.BloomFilter, [][2]uint64, []bool) int) (count int) {
	answers = send.Answers(len(keys), answers)
	shards := l.Filters()
	digests, indices := make([][][2]uint64, len(shards)), make([][]int, len(shards))
	some := make([]bool, min(localBatch, len(keys)))
	for first := 0; first < len(keys); first += localBatch {
		for i := first; i < min(first+localBatch, len(keys)); i++ {
			shard, h1, h2 := l.shardFor(keys[i])
			digests[shard], indices[shard] = append(digests[shard], [2]uint64{h1, h2}), append(indices[shard], i)
		}
		for shard, batch := range digests {
			count += do(shards[shard], batch, some[:len(batch)])
			for j, i := range indices[shard] {
				answers[i] = some[j]
			}
			digests[shard], indices[shard] = batch[:0], indices[shard][:0]
		}
	}
	return count
}

// shardFor returns the shard of a key, and its digest.
func (l *Local) shardFor(key []byte) (shard int, h1, h2 uint64) {
	shards := len(l.Filters())
	h1, h2 = l.plan.scheme.Digest(key)
	if shards == 1 {
		return 0, h1, h2
	}
	var room [64]uint64
	return shardOf(l.plan.scheme.AppendDigestPositions(room[:0], h1, h2), shards), h1, h2
}

// SizeBytes returns the number of bytes that the bits take.
func (l *Local) SizeBytes() uint64 { return uint64(len(l.Filters())) * l.plan.scheme.SizeBytes() }

// Stats describes all shards together, in one pass over the bits.
func (l *Local) Stats() bloom.Stats {
	shards := l.Filters()
	all := l.plan.stats()
	for _, shard := range shards {
		s := shard.Stats()
		all.EstimatedCount = sum(all.EstimatedCount, s.EstimatedCount)
		all.M += s.M
		all.Ones += s.Ones
		all.EstimatedFalsePositiveRate += s.EstimatedFalsePositiveRate / float64(len(shards))
	}
	all.N, all.SizeBytes = l.plan.n, l.SizeBytes()
	return all
}

// String describes the filter in a line for a log.
func (l *Local) String() string {
	if len(l.shards) == 0 {
		return "redisfilter.Local(zero)"
	}
	return fmt.Sprintf("redisfilter.Local(shards=%d %v)", len(l.shards), l.plan.scheme)
}

// LogValue returns what String returns, for package log/slog.
func (l *Local) LogValue() slog.Value { return slog.StringValue(l.String()) }

// MarshalText returns an error, so that encoding/json does not write an empty value. Use [Local.Filters].
func (l *Local) MarshalText() ([]byte, error) {
	return nil, errors.New("redisfilter: a Local has no text form: use Filters")
}
