package redisfilter

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// plain is the mode of a filter with one layer. The state is always 1.
type plain struct{ plan *plan }

// manyKeys is a number of keys per shard from which room for one additional standard deviation always keeps the mean
// rate of all shards at most p. With n keys per shard, the relative standard deviation is d = 1/sqrt(n). Near n keys,
// ln(rate) grows by about ln(1/p) times the relative excess of keys. So without the room, the mean rate is
// p·exp((d·ln(1/p))²/2). The room divides it by exp(d·ln(1/p)). The result is at most p if d·ln(1/p) <= 2, so from n =
// ln²(1/p)/4 on: 492 for p = 2^-64.
const manyKeys = 20_000

// size returns the scheme of one layer for the keys of a shard. Their number has the mean n/shards, and the square root
// of that as its standard deviation. If shards have few keys and p is small, the fullest shards dominate the rate, so a
// layer has room for six standard deviations. Otherwise one standard deviation suffices, see manyKeys.
func (m plain) size() (s *bloom.Scheme, layers int, keys uint64, err error) {
	n, mean := m.plan.perShard(), float64(m.plan.n)/float64(m.plan.shards)
	if m.plan.shards > 1 && mean >= manyKeys {
		n = uint64(math.Ceil(mean + math.Sqrt(mean)))
	}
	s, err = newScheme(n, m.plan.p, m.plan.bloom)
	return s, 1, 0, err
}

func (m plain) expect(known) uint64 { return 1 }

func (m plain) adding(known, uint64) ([]layer, []any, error) {
	return m.plan.first, []any{"p", 1, 0, 0, false}, nil
}

func (m plain) reading(state uint64) ([]layer, error) {
	if state != 1 {
		return nil, fmt.Errorf("%d layers, want 1", state)
	}
	return m.plan.first, nil
}

func (m plain) alive(known, uint64, seen) ([]bool, step) { return nil, judge }

func (m plain) full(known, uint64) error { return bloom.ErrFull } // never called: a plain filter takes any number of keys
