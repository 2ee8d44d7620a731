package guard

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// memStore is a store in memory, with a log of the keys that were put.
type memStore struct {
	mu     sync.RWMutex
	values map[string]string
	log    []string
	file   *os.File // gets each change at once, if not nil

	listing func()       // called when a list begins, if not nil
	fail    func() error // called at each key, if not nil
	since   []byte       // the argument of the last list
}

func newMemStore(keys ...string) *memStore {
	m := &memStore{values: map[string]string{}}
	for _, key := range keys {
		m.put(key)
	}
	return m
}

func (m *memStore) put(key string)    { m.change("+" + key) }
func (m *memStore) delete(key string) { m.change("-" + key) }

func (m *memStore) change(change string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != nil {
		if _, err := m.file.WriteString(change + "\n"); err != nil {
			panic(err)
		}
	}
	key, put := strings.CutPrefix(change, "+")
	if !put {
		delete(m.values, change[1:])
		return
	}
	m.values[key] = "value of " + key
	m.log = append(m.log, key)
}

func (m *memStore) get(_ context.Context, key []byte) (string, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok := m.values[string(key)]
	return value, ok, nil
}

func (m *memStore) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if m.listing != nil {
			m.listing()
		}
		m.mu.RLock()
		keys := slices.Sorted(maps.Keys(m.values))
		if m.since = since; len(since) > 0 {
			keys = slices.Clone(m.log[binary.BigEndian.Uint64(since):])
		}
		m.mu.RUnlock()
		for _, key := range keys {
			if m.fail != nil {
				if err := m.fail(); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
}

func (m *memStore) Position(context.Context) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return binary.BigEndian.AppendUint64(nil, uint64(len(m.log))), nil
}

// put puts a key through a guard.
func put(t *testing.T, g *Guard, m *memStore, key string) {
	t.Helper()
	require.NoError(t, g.Put(func() error { m.put(key); return nil }, []byte(key)))
}

// look looks up a key and reports whether it is there.
func look(t *testing.T, g *Guard, m *memStore, key string) bool {
	t.Helper()
	value, found, err := Get(t.Context(), g, []byte(key), m.get)
	require.NoError(t, err)
	require.Equal(t, found, value != "")
	return found
}

// opened returns a guard that is ready.
func opened(t testing.TB, path string, n uint64, p float64, store Store, opts ...bloom.Option) *Guard {
	t.Helper()
	g := must(New(path, n, p, store, opts...))
	require.NoError(t, g.Open(t.Context()))
	return g
}

func must(g *Guard, err error) *Guard {
	if err != nil {
		panic(err)
	}
	return g
}

func names(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint("key ", i))
	}
	return keys
}

// save saves and drops the position.
func save(g *Guard) error {
	_, err := g.Save(context.Background())
	return err
}

// counts returns the metrics that are not 0.
func counts(g *Guard) map[string]float64 {
	m := g.Metrics()
	maps.DeleteFunc(m, func(_ string, count float64) bool { return count == 0 })
	return m
}
