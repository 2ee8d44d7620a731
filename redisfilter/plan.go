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

// A plan says where the bits of a key are in each shard.
type plan struct {
	n      uint64
	p      float64
	opts   options
	bloom  []bloom.Option // of all layers
	shards int
	mode   mode
	scheme bloom.Scheme // of the first layers
	first  []layer      // of a new value
	table  uint64       // where the slots begin in a value
	slots  uint64
	end    uint64 // where the epoch behind the slots begins
	limit  uint64 // of the bytes of a shard
}

// A layer is a filter for a share of the keys.
type layer struct {
	scheme bloom.Scheme
	words  int    // in which a key has bits
	at     uint64 // where its bits begin in the value
	end    uint64 // where the epoch behind it begins
	keys   uint64 // the most that it takes, 0 for no limit
}

// A mode is what plain, growing and windowed filters differ in. The state of a value is a number that only grows: of
// its layers, or of its generation.
type mode interface {
	// size returns the scheme of the first layers, how many there are, and how many keys each takes, 0 for no limit.
	size() (s bloom.Scheme, layers int, keys uint64, err error)

	// expect returns the state that a value of this handle probably has now.
	expect(k known) uint64

	// adding returns the layers that an add reads, the newest first, in a value of this state. It sets the bits of new
	// keys in the newest one. The arguments are for add.lua, from ARGV[8] on.
	adding(k known, state uint64, stamp bool) (layers []layer, args []any, err error)

	// reading returns the layers that a lookup reads, or an error for a state that no value can have.
	reading(state uint64) ([]layer, error)

	// alive reports which of the layers that a lookup has read still count, given the header. The lookup assumed the
	// state read. Nil means all.
	alive(k known, read uint64, seen seen) (alive []bool, next step)

	// full says why a key found no room.
	full(k known, state uint64) error
}

// A seen is what a lookup reads in a header: the state, the shift of generations, and when the last add came.
type seen struct{ state, shift, added uint64 }

// A look is a server's answer to the question for its clock: the generation that an add would find, and when the last
// add came.
type look struct{ now, added uint64 }

// A step is what a lookup does after it has read the header.
type step int

const (
	judge step = iota
	again      // look up the keys once more, in another state
	ask        // the server for its clock
)

// A known is what a handle knows of a value in Redis: state is the number of layers or the latest generation that a
// reply has shown, shift the shift of generations, time an estimate of the server's clock since 1970, and looked the
// last answer to the question for that clock.
type known struct {
	state, shift uint64
	time, age    time.Duration // of the estimate
	looked       look
}

// length returns the bytes of a new value.
func (f *plan) length() uint64 { return f.end + epochBytes }

// fixed reports whether the layers never change: a key that was seen stays, and lookups need no state.
func (f *plan) fixed() bool { return !f.opts.growth && !f.opts.windowed }

// perShard returns how many of n keys a shard holds at most: with several shards, six deviations more than the mean.
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
		Version: version, Shards: uint16(f.shards), Generations: uint16(f.opts.generations), Slots: uint16(f.slots), N: f.n, P: f.p,
		Millis: f.opts.millis(), TTL: ttl.Milliseconds(), Growth: f.opts.growth, End: double(f.end), State: 1,
		Left: double(f.first[0].keys), Text: textOf(f.scheme.Hash()),
	}
	copy(h.Magic[:], magic)
	copy(h.Epoch[:], newNonce())
	h.Fingerprint = f.fingerprint(h)
	return h
}

// fingerprint is a digest of n, p and everything that decides where the bits of a key are in their layer.
func (f *plan) fingerprint(h header) uint64 {
	text := fmt.Sprintf("redisfilter %d shards=%d generations=%d ms=%d growing=%v n=%d p=%016x %s",
		version, h.Shards, h.Generations, h.Millis, h.Growth, h.N, math.Float64bits(h.P), f.scheme.String())
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

// secretText is the text in the headers of filters with a secret.
var secretText = func() [64]byte {
	s, _ := bloom.NewScheme(1, 0.5, bloom.WithSecret([16]byte{1})) // cannot fail
	return textOf(s.Hash())
}()

// check compares a header with the plan. It returns the plan of the value, which may have another number of slots.
func (f *plan) check(h header) (*plan, error) {
	mine := f.header(0)
	if h.Fingerprint != mine.Fingerprint {
		if h.Text == secretText && !f.scheme.HasSecret() {
			return nil, send.Errorf(ErrMismatch, "it has a secret: pass WithSecret, in WithBloom; it was created for %v", h)
		}
		if h.String() == mine.String() {
			return nil, send.Errorf(ErrMismatch, "it was created for %v, with another seed or secret", h)
		}
		return nil, send.Errorf(ErrMismatch, "it was created for %v; opened for %v", h, mine)
	}
	g := f.withSlots(uint64(h.Slots))
	layers, err := g.mode.reading(h.State.whole())
	if err == nil {
		newest := layers[len(layers)-1]
		if length := newest.end + epochBytes; length > f.limit {
			return nil, send.Errorf(bloom.ErrTooLarge, "%d bytes, want at most %d", length, f.limit)
		}
		if h.End.whole() == newest.end && h.Left.whole() <= newest.keys && h.Slots > 0 && h.Slots <= maxSlots && h.String() == mine.String() {
			return g, nil
		}
	}
	return nil, send.Errorf(ErrMismatch, "a header that contradicts itself: %+v", h)
}

// newScheme returns the scheme for n keys at a rate of at most p. The server's time for a key grows with the number of
// words that have the key's bits. newScheme takes two words per key if that needs at most a quarter more memory than
// bloom.NewScheme. Otherwise it takes four, which need at most 28 % more memory down to p = 1e-12, and a few blocks
// more if n is small.
func newScheme(n uint64, p float64, opts []bloom.Option) (bloom.Scheme, error) {
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

// wordsOf returns in how many words of a block a scheme has the bits of a key, as bloom.Blocked says.
func wordsOf(s bloom.Scheme) int { return wordsPerKey(s.Params().K) }

func wordsPerKey(k int) int {
	switch {
	case k > 8 && k%8 == 0:
		return 8
	case k > 4 && k%4 == 0:
		return 4
	}
	return 2
}
