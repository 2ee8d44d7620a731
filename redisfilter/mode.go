package redisfilter

import (
	"math"
	"sort"
	"time"

	"github.com/seed3447c163/bloom"
)

// maxValue is the longest string in Redis, in bytes.
const maxValue = 512 << 20

// A sizing is what modes know of the filter.
type sizing struct {
	n      uint64
	p      float64
	opts   []bloom.Option // of all layers
	shards int
	limit  uint64       // of the bytes of a shard
	scheme bloom.Scheme // of the first layer, or of each generation
	layout layout
}

// perShard returns how many of n keys a shard holds at most: with several shards, six deviations more than the mean.
func (f *sizing) perShard(n uint64) uint64 {
	if f.shards == 1 {
		return n
	}
	mean := float64(n) / float64(f.shards)
	return uint64(math.Ceil(mean + 6*math.Sqrt(mean)))
}

// A known is what a handle knows of a value at some time: the most layers or the latest generation that replies have shown,
// the shift of generations, and a lower bound of the server's clock since 1970.
type known struct {
	state, shift uint64
	time         time.Duration
}

// A mode is what plain, growing and windowed filters differ in. The state of a value is a number that only grows: of its
// layers, or of its generation.
type mode interface {
	// size returns the scheme of the first layers and how many there are, for the plan's n, p and shards.
	size(f *sizing) (s bloom.Scheme, layers int, err error)

	// begin is called when the layout is known.
	begin(f *sizing)

	// describe writes into the header of a new value what the mode keeps there.
	describe(h *header)

	// check compares the header of a value with the plan, beyond the fingerprint.
	check(key string, h header) error

	// expect returns the state that a value of this handle probably has now.
	expect(k known) uint64

	// possible reports whether a value can have a state.
	possible(state uint64) bool

	// adding returns the layers that an add reads, the newest first, in a value of this state. It sets the bits of new
	// keys in the newest one. The arguments are those of add.lua from ARGV[8] on.
	adding(k known, state uint64, stamp bool) (layers []layer, args []any, err error)

	// reading returns the layers that a lookup reads.
	reading(state uint64) ([]layer, error)

	// alive says for each of the layers that a lookup has read in a value taken for one of the state read whether it
	// counts, by the state and the shift of the header. Nil stands for all. If again is set, the keys are to be looked up
	// once more.
	alive(k known, read, state, shift uint64) (alive []bool, again bool)

	// full returns the state to add for when the newest layer has no room, or an error.
	full(k known, state uint64) (uint64, error)

	// fixed reports whether the layers never change: a key that was seen stays, and lookups need no state.
	fixed() bool
}

// A layer is a filter for a share of the keys.
type layer struct {
	scheme bloom.Scheme
	words  int    // in which a key has bits
	at     uint64 // where its bits begin in the value
	end    uint64 // where the epoch behind it begins
	keys   uint64 // the most that it takes, if it is limited
}

// newScheme returns the scheme for n keys at a rate of at most p. The server's time for a key grows with the words in which it
// has bits, so it chooses the fewest words that need at most a quarter more memory than bloom.NewScheme does.
func newScheme(n uint64, p float64, opts []bloom.Option) (bloom.Scheme, error) {
	best, err := bloom.NewScheme(n, p, opts...)
	if err != nil || best.Strategy() != bloom.Blocked {
		return best, err
	}
	const block = blockBytes * 8
	most := best.Params().M/block + best.Params().M/block/4
	rate := func(blocks uint64, k int) float64 { return bloom.Blocked.FalsePositiveRate(blocks*block, k, n) }
	for _, ks := range [][]int{{2, 6, 10}, {8, 12, 20}} {
		if bloom.Blocked.WordsPerKey(ks[0]) >= wordsOf(best) {
			break
		}
		blocks, chosen := most+1, 0
		for _, k := range ks {
			if blocks > 1 && rate(blocks-1, k) <= p {
				blocks = 1 + uint64(sort.Search(int(blocks-2), func(i int) bool { return rate(uint64(i)+1, k) <= p }))
				chosen = k
			}
		}
		if chosen > 0 {
			return bloom.NewSchemeWithParams(bloom.Params{N: n, P: p, M: blocks * block, K: chosen}, opts...)
		}
	}
	return best, nil
}

// wordsOf returns in how many words of a block a scheme has the bits of a key.
func wordsOf(s bloom.Scheme) int { return s.Strategy().WordsPerKey(s.Params().K) }
