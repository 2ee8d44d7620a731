package redisfilter

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// windowed is the mode of a filter that forgets. Its layers are a ring of generations+1 equal places: generation x has
// place x mod (generations+1). The add that finds by the server's clock that a generation has ended clears the place of
// the next one. The state is the latest generation.
type windowed struct {
	sizing      *sizing
	generations int
	millis      int64 // of a generation
	places      []layer
}

func (m *windowed) size(f *sizing) (s bloom.Scheme, layers int, err error) {
	// All generations of the window and one more may be read.
	rate := f.p / float64(m.generations+1)
	if s, err = newScheme(f.perShard(f.n), rate, f.opts); err != nil {
		err = format.In(err, "each of %d generations of a filter for n = %d keys at p = %v", m.generations+1, f.n, f.p)
	}
	return s, m.generations + 1, err
}

func (m *windowed) begin(f *sizing) {
	for i := range uint64(m.generations + 1) {
		l := layer{scheme: f.scheme, words: wordsOf(f.scheme), at: f.layout.body + i*f.scheme.SizeBytes(), end: f.layout.end}
		l.keys = f.perShard(f.n)
		m.places = append(m.places, l)
	}
}

func (m *windowed) describe(h *header) {
	h.generations, h.millis, h.left = m.generations, m.millis, m.places[0].keys
}

func (m *windowed) check(key string, h header) error {
	if h.generations != m.generations || h.millis != m.millis || h.end != m.sizing.layout.end ||
		h.left > m.places[0].keys || !m.possible(h.state) {
		return fmt.Errorf("%w: key %q: a window whose header contradicts itself", ErrMismatch, key)
	}
	return nil
}

func (m *windowed) expect(k known) uint64 {
	return max(k.state, m.generation(k, k.shift))
}

// generation estimates the present generation from below: it may have begun some time ago.
func (m *windowed) generation(k known, shift uint64) uint64 {
	return uint64(k.time/(time.Duration(m.millis)*time.Millisecond)) + shift
}

func (m *windowed) possible(state uint64) bool { return state < 1<<53 }

func (m *windowed) adding(_ known, state uint64, _ bool) ([]layer, []any, error) {
	places := uint64(len(m.places))
	newestFirst := make([]layer, places)
	for age := range places {
		newestFirst[age] = m.places[(state%places+places-age)%places]
	}
	return newestFirst, []any{"w", state, m.millis, m.places[0].keys, places, m.sizing.scheme.SizeBytes()}, nil
}

func (m *windowed) reading(uint64) ([]layer, error) { return m.places, nil }

func (m *windowed) alive(k known, _, state, shift uint64) ([]bool, bool) {
	places := uint64(len(m.places))
	now := max(state, m.generation(k, shift))
	alive := make([]bool, places)
	for age := range min(places, state+1) {
		alive[(state-age)%places] = state-age+places > now
	}
	return alive, false
}

// full says when the next generation begins.
func (m *windowed) full(k known, state uint64) (uint64, error) {
	begins := time.UnixMilli(int64(state+1-k.shift) * m.millis)
	return 0, fmt.Errorf("%w: the generation has its n = %d keys; the next one begins at %s, in %v", ErrFull, m.sizing.n,
		begins.UTC().Format(time.RFC3339Nano), max(0, time.Duration(begins.UnixNano())-k.time).Round(time.Millisecond))
}

func (m *windowed) fixed() bool { return false }
