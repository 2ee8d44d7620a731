package redisfilter

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// windowed is the mode of a filter that forgets keys. Its layers are generations+1 places of equal size: generation x
// has place x mod (generations+1). The first add of a new generation, by the server's clock, clears its place. The
// state is the latest generation.
type windowed struct {
	plan   *plan
	millis int64 // of a generation
}

func (m windowed) size() (s *bloom.Scheme, layers int, keys uint64, err error) {
	// A lookup reads all layers, so each gets an equal share of p.
	layers, keys = m.plan.opts.generations+1, m.plan.perShard()
	if s, err = newScheme(keys, m.plan.p/float64(layers), m.plan.bloom); err != nil {
		err = fmt.Errorf("%w, in each of %d generations of a filter for n = %d keys at p = %v", err, layers, m.plan.n, m.plan.p)
	}
	return s, layers, keys, err
}

func (m windowed) expect(k known) uint64 {
	return max(k.state, m.generation(k, k.shift))
}

// generation returns the present generation by the estimate of the server's clock.
func (m windowed) generation(k known, shift uint64) uint64 {
	return uint64(k.time/(time.Duration(m.millis)*time.Millisecond)) + shift
}

func (m windowed) adding(_ known, state uint64) ([]layer, []any, error) {
	places := uint64(len(m.plan.first))
	newestFirst := make([]layer, places)
	for age := range places {
		newestFirst[age] = m.plan.first[(state%places+places-age)%places]
	}
	return newestFirst, []any{"w", state, m.millis, newestFirst[0].keys, false, places, m.plan.scheme.SizeBytes()}, nil
}

func (m windowed) reading(state uint64) ([]layer, error) {
	if state >= maxExact {
		return nil, fmt.Errorf("generation %d, want less than 2^53", state)
	}
	return m.plan.first, nil
}

// alive returns for each place whether its generation is remembered, or the step ask if the server's clock is needed to
// decide. It uses the latest generation in the header, set by the adds, and the estimate of the server's clock.
//
//  1. The header does not show that generations have ended since the last add.
//  2. The estimate may be wrong after a step of the clock or a failover. So if a generation has ended by the estimate,
//     or if the estimate is old, alive returns ask.
//  3. The server's answer, k.looked, is valid while the header has the same time of the last add.
//
// So a lookup finds each key that an add at the same time would find.
func (m windowed) alive(k known, _ uint64, seen seen) ([]bool, step) {
	now := seen.state
	if k.looked.added == seen.added {
		now = max(now, k.looked.now)
	}
	if m.generation(k, seen.shift) > now || k.age > max(time.Second, time.Duration(m.millis)*time.Millisecond) {
		return nil, ask
	}
	places := uint64(len(m.plan.first))
	alive := make([]bool, places)
	for age := range min(places, seen.state+1) {
		alive[(seen.state-age)%places] = seen.state-age+places > now
	}
	return alive, judge
}

// full returns an error with the number of keys of the generation, and the time when the next one begins.
func (m windowed) full(k known, state uint64) error {
	keys := fmt.Sprintf("n = %d keys", m.plan.n)
	if m.plan.shards > 1 {
		keys = fmt.Sprintf("%d keys, the share of one of %d shards in n = %d", m.plan.first[0].keys, m.plan.shards, m.plan.n)
	}
	begins := time.UnixMilli(int64(state+1-k.shift) * m.millis)
	return send.Errorf(bloom.ErrFull, "the generation has its %s; the next one begins at %s, in %v", keys,
		begins.UTC().Format(time.RFC3339Nano), max(0, time.Duration(begins.UnixNano())-k.time).Round(time.Millisecond))
}
