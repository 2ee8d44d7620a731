package redisfilter

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

const (
	// maxValue is the longest string in Redis, in bytes.
	maxValue = 512 << 20

	// shardBytes is the largest shard unless WithShards says otherwise. A command on a whole value of
	// this size takes the server some 10 ms, in which it answers no client.
	shardBytes = 30 << 20

	maxShards = 4096

	// leastKeys is the smallest first layer of a growing filter: its slots take as much memory, and
	// lookups read fewer layers.
	leastKeys = 1024

	// maxKeys is more than the keys of a layer of 512 MiB, maxLayers more than the layers of a value.
	maxKeys   = 1 << 33
	maxLayers = 32
)

// A plan says where the bits of a key are in each shard.
type plan struct {
	n      uint64
	p      float64
	opts   []bloom.Option // of all layers
	shards int
	limit  uint64 // of the bytes of a shard

	growth      bool
	generations int   // 0 without a window
	millis      int64 // of a generation

	scheme bloom.Scheme // of the first layer, or of a generation
	words  int          // of a block in which a key has bits, 0 if its bits are anywhere
	layout layout

	mu     sync.Mutex // held while a layer is planned
	layers atomic.Pointer[[]layer]
}

// A layer is a filter for a share of the keys.
type layer struct {
	scheme bloom.Scheme
	keys   uint64 // the most that it takes; of no account unless the filter grows
	at     uint64 // where its bits begin in the value
	end    uint64 // where the epoch behind it begins
}

// newPlan checks what the caller wants and sizes it.
func newPlan(n uint64, p float64, o options) (*plan, error) {
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	f := &plan{n: n, p: p, shards: max(1, o.shards), growth: o.growth, generations: o.generations, millis: o.millis()}
	// Schemes of several shards may be larger together than one filter can be.
	f.opts = append([]bloom.Option{bloom.WithStrategy(f.strategy())}, o.bloom...)
	f.opts = append(f.opts, bloom.WithMaxBytes(math.MaxInt64))
	limit := bloom.MaxBytes(o.bloom...)
	if err := f.size(); err != nil {
		return nil, err
	}
	if whole := f.layout.length; o.shards == 0 && whole > shardBytes && !f.growth {
		f.shards = int(min((whole+shardBytes-1)/shardBytes, maxShards+1))
		if f.shards > maxShards {
			return nil, fmt.Errorf("%w: n = %d keys at p = %v need %d bytes, want at most %d", bloom.ErrTooLarge, n, p, whole, uint64(maxShards)*shardBytes)
		}
		if err := f.size(); err != nil {
			return nil, err
		}
	}
	if err := identity.Check(f.scheme); err != nil {
		return nil, err
	}
	switch length := f.layout.length; {
	case length > maxValue:
		return nil, fmt.Errorf("%w: %d bytes in each of %d shards, want at most %d", bloom.ErrTooLarge, length, f.shards, uint64(maxValue))
	case length*uint64(f.shards) > limit:
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", bloom.ErrTooLarge, length*uint64(f.shards), limit)
	}
	f.limit = min(maxValue, limit/uint64(f.shards))
	f.layers.Store(&[]layer{{f.scheme, f.layerKeys(0), f.layout.body, f.layout.end}})
	return f, nil
}

// strategy returns the default strategy.
func (f *plan) strategy() bloom.Strategy {
	switch {
	case f.generations > 0:
		return identity.DefaultStrategy(f.p/float64(f.generations+1), bloom.Blocked8)
	case f.growth: // that for the rate of the third layer
		return identity.DefaultStrategy(f.p/12, bloom.Blocked8)
	}
	return identity.DefaultStrategy(f.p, bloom.DoubleHashing)
}

// size computes the scheme of the first layer and the layout.
func (f *plan) size() (err error) {
	n, rate, what := f.n, f.p, ""
	switch {
	case f.growth:
		if n > maxKeys {
			return fmt.Errorf("%w: n = %d keys in the first layer, want at most %d", bloom.ErrTooLarge, n, uint64(maxKeys))
		}
		n, rate, what = f.layerKeys(0), f.p/2, "in layer 0"
		f.scheme, err = bloom.NewScheme(n, rate, f.opts...)
	case f.generations > 0:
		// The generations of a window and one more may be read.
		g := uint64(f.generations)
		n, rate, what = n/g+min(n%g, 1), f.p/float64(g+1), fmt.Sprintf("in each of %d generations", g)
		fallthrough
	default:
		if f.shards > 1 {
			f.scheme, err = shardScheme(n, rate, f.shards, f.opts)
		} else {
			f.scheme, err = bloom.NewScheme(n, rate, f.opts...)
		}
	}
	if err != nil && what != "" {
		return fmt.Errorf("%w, %s of a filter for n = %d keys at p = %v", err, what, f.n, f.p)
	}
	if err != nil {
		return err
	}
	f.words = blockWords(f.scheme.Strategy())
	if f.generations > 0 && (f.words == 0 || f.scheme.Strategy() == bloom.SplitBlock) {
		return fmt.Errorf("%w: strategy %q with a window, want Blocked1, Blocked2, Blocked4 or Blocked8", bloom.ErrInvalid, f.scheme.Strategy())
	}
	f.layout = layoutOf(f.scheme, f.generations, f.growth)
	return nil
}

// blockWords returns in how many 64-bit words of one block a strategy has the bits of a key, or 0 if
// they are anywhere.
func blockWords(s bloom.Strategy) int {
	switch s {
	case bloom.Blocked1:
		return 1
	case bloom.Blocked2:
		return 2
	case bloom.Blocked4, bloom.SplitBlock:
		return 4
	case bloom.Blocked8:
		return 8
	}
	return 0
}

// layerKeys returns for how many keys layer i of a growing shard is.
func (f *plan) layerKeys(i int) uint64 {
	s := uint64(f.shards)
	return max(f.n/s+min(f.n%s, 1), leastKeys) << i
}

// grown returns the first count layers. The error wraps bloom.ErrTooLarge if they take more than limit
// bytes.
//
// The rates of all layers add up to p: 1/(1·2) + 1/(2·3) + ... = 1, as in package scalable.
func (f *plan) grown(count int, limit uint64) ([]layer, error) {
	layers := *f.layers.Load()
	if count > len(layers) {
		f.mu.Lock()
		defer f.mu.Unlock()
		layers = *f.layers.Load()
		for i := len(layers); i < count; i++ {
			if !f.growth || i >= maxLayers || f.layerKeys(i) > maxKeys {
				return nil, fmt.Errorf("%w: %d layers", bloom.ErrTooLarge, i+1)
			}
			l := layer{keys: f.layerKeys(i), at: layers[i-1].end + epochBytes}
			var err error
			opts := append(f.opts[:len(f.opts):len(f.opts)], bloom.WithStrategy(f.scheme.Strategy()))
			if l.scheme, err = bloom.NewScheme(l.keys, f.p/(float64(i+1)*float64(i+2)), opts...); err != nil {
				return nil, fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, f.n, f.p)
			}
			if k := l.scheme.Params().K; k > math.MaxUint8 {
				return nil, fmt.Errorf("%w: k = %d in layer %d, want at most %d", bloom.ErrInvalid, k, i, math.MaxUint8)
			}
			l.end = l.at + bodyBytes(l.scheme, 0)
			if l.end+epochBytes > maxValue {
				return nil, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, i+1, l.end+epochBytes, uint64(maxValue))
			}
			layers = append(layers[:i:i], l) // other goroutines read the old ones
			f.layers.Store(&layers)
		}
	}
	if got := layers[count-1].end + epochBytes; got > limit {
		return nil, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, count, got, limit)
	}
	return layers[:count], nil
}

// canHave reports whether a value can have so many layers.
func (f *plan) canHave(layers uint64) bool {
	if layers < 1 || layers > maxLayers {
		return false
	}
	_, err := f.grown(int(layers), maxValue)
	return err == nil
}

// manyKeys is a number of keys per shard for which one deviation of room is certainly enough.
// Near n keys, ln(rate) grows by about ln(1/p) times the relative excess, whose deviation is d = 1/sqrt(n).
// Without room, the mean rate of all shards is p·exp((d·ln(1/p))²/2). Room for one deviation divides it by
// exp(d·ln(1/p)), which is enough from n = ln²(1/p)/4 on: 492 for p = 2^-64.
const manyKeys = 20_000

// shardScheme returns the scheme of each of some shards whose rate together is at most p after n keys.
//
// A shard receives n/shards keys on average, with a deviation of its square root. One deviation of
// room pays for the difference if a shard has many keys. If it has few and p is small, the
// fullest shards decide.
func shardScheme(n uint64, p float64, shards int, opts []bloom.Option) (bloom.Scheme, error) {
	mean := float64(n) / float64(shards)
	each := uint64(math.Ceil(mean + math.Sqrt(mean)))
	for {
		s, err := bloom.NewScheme(each, p, opts...)
		if err != nil || mean >= manyKeys || shardedRate(s, mean, p) <= p {
			return s, err
		}
		each += max(1, each/32)
	}
}

// ratePoints is the number of loads at which shardedRate computes the true rate: some milliseconds.
const ratePoints = 24

// shardedRate returns an upper bound for the rate of shards that hold mean keys on average, without
// loads that weigh less than a millionth of p.
//
// The number of keys per shard is binomial; the Poisson distribution used here is wider. The true rate
// of a load takes long to compute, the textbook's does not, and the ratio of the two changes slowly
// and in one direction: between two points, the larger ratio is taken.
func shardedRate(s bloom.Scheme, mean, p float64) float64 {
	m, k := s.Params().M, s.Params().K
	textbook := func(n uint64) float64 { return math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k)) }
	share := func(j uint64) float64 { // of the shards hold j keys
		lg, _ := math.Lgamma(float64(j) + 1)
		return math.Exp(float64(j)*math.Log(mean) - mean - lg)
	}
	ratio := func(j uint64) float64 { return s.Strategy().FalsePositiveRate(m, k, j) / textbook(j) }
	deviation := math.Sqrt(mean)
	first := uint64(max(1, mean-8*deviation))
	last := uint64(math.Ceil(mean + deviation))
	for share(last) > p*1e-6 {
		last += uint64(math.Ceil(deviation))
	}
	growth := math.Pow(float64(last)/float64(first), 1.0/ratePoints)
	sum, here := 0.0, ratio(first)
	for from := first; from < last; {
		to := min(last, max(from+1, uint64(float64(from)*growth)))
		there := ratio(to)
		for j := from; j < to; j++ {
			sum += share(j) * min(1, max(here, there)*textbook(j))
		}
		from, here = to, there
	}
	return sum
}
