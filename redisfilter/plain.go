package redisfilter

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// plain is the mode of a filter with one layer.
type plain struct{ layers []layer }

func (m *plain) size(f *sizing) (bloom.Scheme, int, error) {
	s, err := newScheme(f.n, f.p, f.opts)
	if err == nil && f.shards > 1 {
		s, err = shardScheme(f.n, f.p, f.shards, f.opts)
	}
	return s, 1, err
}

func (m *plain) begin(f *sizing) {
	m.layers = []layer{{scheme: f.scheme, words: wordsOf(f.scheme), at: f.layout.body, end: f.layout.end}}
}

func (m *plain) describe(h *header) { h.state = 1 }

func (m *plain) check(key string, h header) error {
	if end := m.layers[0].end; h.state != 1 || h.end != end || h.growth || h.generations != 0 {
		return fmt.Errorf("%w: key %q: %d layers up to byte %d, want 1 up to %d", ErrMismatch, key, h.state, h.end, end)
	}
	return nil
}

func (m *plain) expect(known) uint64 { return 1 }

func (m *plain) possible(state uint64) bool { return state == 1 }

func (m *plain) reading(uint64) ([]layer, error) { return m.layers, nil }

func (m *plain) alive(known, uint64, uint64, uint64) ([]bool, bool) { return nil, false }

func (m *plain) full(known, uint64) (uint64, error) { return 0, ErrFull } // never: there is always room

func (m *plain) fixed() bool { return true }

func (m *plain) adding(_ known, _ uint64, stamp bool) ([]layer, []any, error) {
	return m.layers, []any{"p", 1, stamp}, nil
}

// manyKeys is a number of keys per shard for which one deviation of room is certainly enough.
// Near n keys, ln(rate) grows by about ln(1/p) times the relative excess, whose deviation is d = 1/sqrt(n).
// Without room, the mean rate of all shards is p·exp((d·ln(1/p))²/2). Room for one deviation divides it by
// exp(d·ln(1/p)), which is enough from n = ln²(1/p)/4 on: 492 for p = 2^-64.
const manyKeys = 20_000

// shardScheme returns the scheme of each of some shards whose rate together is at most p after n keys.
//
// A shard receives n/shards keys on average, with a deviation of its square root. If shards have few keys and p is small,
// the fullest shards decide: they get room for six deviations.
func shardScheme(n uint64, p float64, shards int, opts []bloom.Option) (bloom.Scheme, error) {
	mean := float64(n) / float64(shards)
	if mean < manyKeys {
		return newScheme((&sizing{shards: shards}).perShard(n), p, opts)
	}
	return newScheme(uint64(math.Ceil(mean+math.Sqrt(mean))), p, opts)
}
