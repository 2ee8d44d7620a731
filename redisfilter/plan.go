package redisfilter

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A plan has the parameters and the layout of a filter.
type plan struct {
	n      uint64
	p      float64
	opts   options
	bloom  []bloom.Option // of all layers
	shards int
	mode   mode
	scheme *bloom.Scheme // of the first layers
	first  []layer       // the layers of a new value
	end    uint64        // where the epoch after the first layers begins
	limit  uint64        // largest size of a shard in bytes
}

// A layer is a filter within the value of a shard.
type layer struct {
	scheme *bloom.Scheme
	words  int    // number of words that have bits of a key
	at     uint64 // where its bits begin in the value
	end    uint64 // where the epoch after it begins
	keys   uint64 // largest number of keys, 0 for no limit
}

// A mode has the methods in which plain, growing and windowed filters differ. The state of a value is the number of its
// layers, or its latest generation. It never decreases.
type mode interface {
	// size returns the scheme of the first layers, their number, and the largest number of keys of each, 0 for no
	// limit.
	size() (s *bloom.Scheme, layers int, keys uint64, err error)

	// expect returns the state that the value probably has now.
	expect(k known) uint64

	// adding returns the layers for an add to a value with this state, the newest first. The add reads all of them and
	// sets bits in the newest. args are the arguments of add.lua from ARGV[7] on.
	adding(k known, state uint64) (layers []layer, args []any, err error)

	// reading returns the layers that a lookup reads, or an error for a state that no value can have.
	reading(state uint64) ([]layer, error)

	// alive returns, for each layer that a lookup has read, whether it counts according to the header; nil means that
	// all count. read is the state for which the lookup has chosen the layers.
	alive(k known, read uint64, seen seen) (alive []bool, next step)

	// full returns the error for a key that found no room.
	full(k known, state uint64) error
}

// A seen has the fields of the header that a lookup reads: the state, the shift of generations, and the time of the
// last add.
type seen struct{ state, shift, added uint64 }

// A look is the result of askClock: the generation by the server's clock, and the time of the last add.
type look struct{ now, added uint64 }

// A step is the next step of a lookup after it has read the header.
type step int

const (
	judge step = iota // use the answers
	again             // look up the keys once more, with another state
	ask               // call askClock
)

// A known is the known state of a value in Redis: the largest state and shift in a reply, an estimate of the server's
// clock since 1970 with its age, and the last result of askClock.
type known struct {
	state, shift uint64
	time, age    time.Duration // the estimate, and its age
	looked       look
}

// length returns the size of a new value in bytes.
func (f *plan) length() uint64 { return f.end + epochBytes }

// fixed reports whether the layers never change, so that keys stay and lookups need no state.
func (f *plan) fixed() bool { return !f.opts.growth && !f.opts.windowed }

// perShard returns the largest number of keys that a shard must hold: n for one shard, otherwise the mean plus six
// standard deviations.
func (f *plan) perShard() uint64 {
	if f.shards == 1 {
		return f.n
	}
	mean := float64(f.n) / float64(f.shards)
	return uint64(math.Ceil(mean + 6*math.Sqrt(mean)))
}

// header returns the header of a new value.
func (f *plan) header(ttl time.Duration) header {
	h := header{
		Version: version, Shards: uint16(f.shards), Generations: uint16(f.opts.generations), N: f.n, P: f.p,
		Millis: f.opts.millis(), TTL: ttl.Milliseconds(), Growth: f.opts.growth, End: double(f.end), State: 1,
		Left: double(f.first[0].keys), Text: textOf(f.scheme.Hash()),
	}
	copy(h.Magic[:], magic)
	copy(h.Epoch[:], newNonce())
	h.Fingerprint = f.fingerprint(h)
	return h
}

// fingerprint returns a digest of n, p and everything that determines the bits of a key in a layer.
func (f *plan) fingerprint(h header) uint64 {
	text := fmt.Sprintf("redisfilter %d shards=%d generations=%d ms=%d growing=%v n=%d p=%016x %s",
		version, h.Shards, h.Generations, h.Millis, h.Growth, h.N, math.Float64bits(h.P), f.scheme.String())
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

// secretText is the text in the header of a filter with a secret.
var secretText = func() [64]byte {
	s, _ := bloom.NewScheme(1, 0.5, bloom.WithSecret([16]byte{1})) // cannot fail
	return textOf(s.Hash())
}()

// check returns an error if the header of a value does not fit the plan.
func (f *plan) check(h header) error {
	mine := f.header(0)
	if h.Fingerprint != mine.Fingerprint {
		if h.Text == secretText && textOf(f.scheme.Hash()) != secretText {
			return send.Errorf(ErrMismatch, "it has a secret: pass WithSecret, in WithBloom; it was created for %v", h)
		}
		if h.String() == mine.String() {
			return send.Errorf(ErrMismatch, "it was created for %v, with another seed, secret or hash of this name", h)
		}
		return send.Errorf(ErrMismatch, "it was created for %v; opened for %v", h, mine)
	}
	layers, err := f.mode.reading(h.State.whole())
	if err == nil {
		newest := layers[len(layers)-1]
		if length := newest.end + epochBytes; length > f.limit {
			return send.Errorf(bloom.ErrTooLarge, "%d bytes, want at most %d", length, f.limit)
		}
		if h.End.whole() == newest.end && h.Left.whole() <= newest.keys && h.Shift.whole() < maxExact && h.String() == mine.String() {
			return nil
		}
	}
	return send.Errorf(ErrMismatch, "a header that contradicts itself: %+v", h)
}

// newScheme returns the scheme for n keys at a rate of at most p. The server's time for a key grows with the number of
// words that have bits of the key. newScheme uses two words per key if that takes at most a quarter more memory than
// bloom.NewScheme. Otherwise it uses four words. These take at most 28 % more memory for p >= 1e-12, and a few blocks
// more if n is small.
func newScheme(n uint64, p float64, opts []bloom.Option) (*bloom.Scheme, error) {
	best, err := bloom.NewScheme(n, p, opts...)
	if err != nil || best.Strategy() != bloom.Blocked {
		return best, err
	}
	const block = blockBytes * 8
	least := best.Params().M / block
	rate := func(blocks uint64, k int) float64 { return bloom.Blocked.FalsePositiveRate(blocks*block, k, n) }
	for _, choice := range []struct {
		ks   []int
		most uint64
	}{{[]int{2, 6, 10}, least + least/4}, {[]int{8, 12, 20, 28}, least + least/3 + 4}} {
		if wordsPerKey(choice.ks[0]) >= wordsOf(best) {
			return best, nil
		}
		blocks, chosen := choice.most+1, 0
		for _, k := range choice.ks {
			if blocks > 1 && rate(blocks-1, k) <= p {
				blocks = 1 + uint64(sort.Search(int(blocks-2), func(i int) bool { return rate(uint64(i)+1, k) <= p }))
				chosen = k
			}
		}
		if chosen > 0 {
			return bloom.NewSchemeWithParams(bloom.Params{N: n, P: p, M: blocks * block, K: chosen}, opts...)
		}
	}
	return best, send.Errorf(bloom.ErrInvalid, "n = %d keys at p = %v, want a rate for four words per key", n, p)
}

// wordsOf returns the number of words of a block that have bits of a key.
func wordsOf(s *bloom.Scheme) int { return wordsPerKey(s.Params().K) }

func wordsPerKey(k int) int {
	switch {
	case k > 8 && k%8 == 0:
		return 8
	case k > 4 && k%4 == 0:
		return 4
	}
	return 2
}
