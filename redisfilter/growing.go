package redisfilter

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

const (
	// leastKeys is the smallest first layer of a growing filter: its slots take as much memory, and lookups read fewer
	// layers.
	leastKeys = 1024

	// maxKeys is more than the keys of a layer of 512 MiB, maxLayers more than the layers of a value.
	maxKeys   = 1 << 33
	maxLayers = 32
)

// growing is the mode of a filter that opens a further layer when the newest one is full. Each layer is for twice as many
// keys as the one before. A layer that is not the newest never changes. The state is the number of layers.
type growing struct {
	sizing *sizing
	mu     sync.Mutex // held while a layer is planned
	layers atomic.Pointer[[]layer]
}

// layerKeys returns for how many keys layer i of a shard is.
func (m *growing) layerKeys(i int) uint64 {
	s := uint64(m.sizing.shards)
	return max(m.sizing.n/s+min(m.sizing.n%s, 1), leastKeys) << i
}

// scheme returns the scheme of layer i. The rates of all layers add up to p: 1/(1·2) + 1/(2·3) + ... = 1, as in package
// scalable.
func (m *growing) scheme(i int) (bloom.Scheme, error) {
	s, err := newScheme(m.layerKeys(i), m.sizing.p/(float64(i+1)*float64(i+2)), m.sizing.opts)
	if err != nil {
		return s, format.In(err, "layer %d of a filter for n = %d keys at p = %v", i, m.sizing.n, m.sizing.p)
	}
	return s, nil
}

func (m *growing) size(f *sizing) (s bloom.Scheme, layers int, err error) {
	if f.n > maxKeys {
		return s, 0, format.Errorf(bloom.ErrTooLarge, "n = %d keys in the first layer, want at most %d", f.n, uint64(maxKeys))
	}
	s, err = m.scheme(0)
	return s, 1, err
}

func (m *growing) begin(f *sizing) {
	m.layers.Store(&[]layer{{scheme: f.scheme, words: wordsOf(f.scheme), at: f.layout.body, end: f.layout.end, keys: m.layerKeys(0)}})
}

func (m *growing) describe(h *header) { h.growth, h.state, h.left = true, 1, m.layerKeys(0) }

func (m *growing) check(key string, h header) error {
	if !h.growth || h.state < 1 || h.state > maxLayers {
		return fmt.Errorf("%w: key %q: %d layers, want 1 to %d", ErrMismatch, key, h.state, maxLayers)
	}
	layers, err := m.upTo(int(h.state), m.sizing.limit)
	if err != nil {
		return fmt.Errorf("redisfilter: key %q: %w", key, err)
	}
	if newest := layers[h.state-1]; h.left > newest.keys || h.end != newest.end {
		return fmt.Errorf("%w: key %q: the newest layer has room for %d keys and ends at %d, want at most %d and %d",
			ErrMismatch, key, h.left, h.end, newest.keys, newest.end)
	}
	return nil
}

// upTo returns the first count layers, the oldest first. The error wraps bloom.ErrTooLarge if they take more than limit
// bytes.
func (m *growing) upTo(count int, limit uint64) ([]layer, error) {
	layers := *m.layers.Load()
	if count > len(layers) {
		m.mu.Lock()
		defer m.mu.Unlock()
		layers = *m.layers.Load()
		for i := len(layers); i < count; i++ {
			if i >= maxLayers || m.layerKeys(i) > maxKeys {
				return nil, fmt.Errorf("%w: %d layers", bloom.ErrTooLarge, i+1)
			}
			s, err := m.scheme(i)
			if err != nil {
				return nil, err
			}
			l := layer{scheme: s, words: wordsOf(s), at: layers[i-1].end + epochBytes, keys: m.layerKeys(i)}
			l.end = l.at + s.SizeBytes()
			if l.end+epochBytes > maxValue {
				return nil, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, i+1, l.end+epochBytes, uint64(maxValue))
			}
			layers = append(layers[:i:i], l) // other goroutines read the old ones
			m.layers.Store(&layers)
		}
	}
	if got := layers[count-1].end + epochBytes; got > limit {
		return nil, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, count, got, limit)
	}
	return layers[:count], nil
}

func (m *growing) expect(k known) uint64 { return k.state }

func (m *growing) possible(state uint64) bool {
	if state < 1 || state > maxLayers {
		return false
	}
	_, err := m.upTo(int(state), maxValue)
	return err == nil
}

// adding returns the layers that a value is known to have, or one more within this handle's limit.
func (m *growing) adding(k known, state uint64, _ bool) ([]layer, []any, error) {
	limit := uint64(maxValue)
	if state > k.state {
		limit = m.sizing.limit
	}
	layers, err := m.upTo(int(state), limit)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	newestFirst := make([]layer, len(layers))
	for i, l := range layers {
		newestFirst[len(layers)-1-i] = l
	}
	return newestFirst, []any{"g", state, newestFirst[0].end, newestFirst[0].keys}, nil
}

func (m *growing) reading(state uint64) ([]layer, error) { return m.upTo(int(state), maxValue) }

func (m *growing) full(_ known, state uint64) (uint64, error) { return state + 1, nil }

func (m *growing) fixed() bool { return false }

func (m *growing) alive(_ known, read, state, _ uint64) ([]bool, bool) {
	return nil, state > read
}
