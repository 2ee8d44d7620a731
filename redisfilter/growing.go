package redisfilter

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// leastKeys is the number of keys of the smallest first layer of a growing filter. A smaller one would save little,
// because the header takes as much memory, and lookups would read more layers.
const leastKeys = 1024

// growing is the mode of a filter that opens a further layer when the newest one is full. Each layer is for twice as
// many keys as the one before. A layer that is not the newest never changes. The state is the number of layers.
type growing struct {
	plan *plan
	all  func() ([]layer, error) // returns all layers that a value can have, oldest first, and the error for one more
}

func newGrowing(f *plan) growing {
	m := growing{plan: f}
	m.all = sync.OnceValues(m.layers)
	return m
}

// layerKeys returns the number of keys for layer i of a shard.
func (m growing) layerKeys(i int) uint64 { return max(m.plan.perShard(), leastKeys) << i }

// scheme returns the scheme of layer i. The rates of all layers sum to p, as in package scalable: 1/(1·2) + 1/(2·3) +
// ... = 1.
func (m growing) scheme(i int) (*bloom.Scheme, error) {
	s, err := newScheme(m.layerKeys(i), m.plan.p/(float64(i+1)*float64(i+2)), m.plan.bloom)
	if err != nil {
		return s, fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, m.plan.n, m.plan.p)
	}
	return s, nil
}

func (m growing) size() (s *bloom.Scheme, layers int, keys uint64, err error) {
	s, err = m.scheme(0)
	return s, 1, m.layerKeys(0), err
}

// layers computes all layers that the filter can grow to.
func (m growing) layers() (layers []layer, err error) {
	layers = slices.Clone(m.plan.first)
	for i := 1; ; i++ {
		s, err := m.scheme(i)
		if err != nil {
			return layers, send.WithKind(bloom.ErrFull, err)
		}
		l := layer{scheme: s, words: wordsOf(s), at: layers[i-1].end + epochBytes, keys: m.layerKeys(i)}
		l.end = l.at + s.SizeBytes()
		if length := l.end + epochBytes; length > maxValue {
			return layers, send.Errorf(bloom.ErrFull, "%d layers take %d bytes, want at most %d", i+1, length, uint64(maxValue))
		}
		layers = append(layers, l)
	}
}

// upTo returns the first count layers. The error wraps bloom.ErrFull if they take more than limit bytes.
func (m growing) upTo(count, limit uint64) ([]layer, error) {
	layers, err := m.all()
	if count < 1 || count > uint64(len(layers)) {
		return nil, err
	}
	if length := layers[count-1].end + epochBytes; length > limit {
		return nil, send.Errorf(bloom.ErrFull, "%d layers take %d bytes in each of %d shards, want at most %d", count, length, m.plan.shards, limit)
	}
	return layers[:count:count], nil
}

func (m growing) expect(k known) uint64 { return k.state }

// adding returns the layers for an add to a value whose number of layers is state. If state is more than the known
// number, the add makes a layer, so all layers must fit in this handle's limit.
func (m growing) adding(k known, state uint64) ([]layer, []any, error) {
	limit := uint64(maxValue)
	if state > k.state {
		limit = m.plan.limit
	}
	layers, err := m.upTo(state, limit)
	if err != nil {
		return nil, nil, err
	}
	newestFirst := slices.Clone(layers)
	slices.Reverse(newestFirst)
	_, full := m.upTo(state+1, m.plan.limit)
	return newestFirst, []any{"g", state, newestFirst[0].end, newestFirst[0].keys, full == nil}, nil
}

func (m growing) reading(state uint64) ([]layer, error) { return m.upTo(state, maxValue) }

func (m growing) alive(_ known, read uint64, seen seen) ([]bool, step) {
	if seen.state > read {
		return nil, again
	}
	return nil, judge
}

func (m growing) full(_ known, state uint64) error {
	_, err := m.upTo(state+1, m.plan.limit)
	return err
}
