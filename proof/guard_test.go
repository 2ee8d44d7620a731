package proof

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
)

// A storeOp is one call on a store behind a guard.
type storeOp struct {
	key  int
	kind byte // 'p'ut, 'd'elete, 'g'et
}

// storeModel is a store without a guard: get returns whether the key is there.
var storeModel = porcupine.Model{
	Partition: byKey(func(input any) int { return input.(storeOp).key }),
	Init:      func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		switch input.(storeOp).kind {
		case 'p':
			return true, true
		case 'd':
			return true, false
		}
		return output == state, state
	},
}

// mapStore is a store of keys in memory. Its list is slow, so that other calls run during it, and
// contains no key that it may omit.
type mapStore struct {
	mu   sync.Mutex
	keys map[string]bool
	gone map[string]bool // deleted since the list began
}

// put puts a key. It can take longer than a build.
func (m *mapStore) put(key []byte) error {
	pause(rand.Uint64N(20))
	defer pause(rand.Uint64N(3))
	return m.change(string(key), true)
}

func (m *mapStore) change(key string, there bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys[key] = there; !there {
		m.gone[key] = true
	}
	return nil
}

func (m *mapStore) has(_ context.Context, key []byte) (value struct{}, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return value, m.keys[string(key)], nil
}

func (m *mapStore) Keys(context.Context, []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m.mu.Lock()
		clear(m.gone)
		keys := maps.Clone(m.keys)
		m.mu.Unlock()
		pause(3)
		m.mu.Lock()
		gone := maps.Clone(m.gone)
		m.mu.Unlock()
		for key, there := range keys {
			if there && !gone[key] && !yield([]byte(key), nil) {
				return
			}
		}
	}
}

func (m *mapStore) Position(context.Context) ([]byte, error) { return []byte("0"), nil }

// pause lets other goroutines go on.
func pause(times uint64) {
	for range times {
		runtime.Gosched()
	}
}

// recordStore returns a history of goroutines that put, delete and get keys through a guard, which is
// built again and again. put puts a key.
func recordStore(t *testing.T, round uint64, put func(g *guard.Guard, m *mapStore, key []byte) error) []porcupine.Operation {
	const goroutines, keys, calls = 4, 3, 100
	m := &mapStore{keys: map[string]bool{}, gone: map[string]bool{}}
	g, err := guard.New("", 10_000, 1e-3, m)
	require.NoError(t, err)
	histories := make([][]porcupine.Operation, goroutines)
	var done atomic.Bool
	var wg, builder sync.WaitGroup
	builder.Go(func() {
		for !done.Load() {
			if err := g.Rebuild(t.Context(), 10_000, 1e-3); err != nil {
				t.Error(err)
			}
		}
	})
	start := time.Now()
	for id := range goroutines {
		wg.Go(func() {
			for i := range calls {
				r := mix(round<<24 + uint64(id)<<16 + uint64(i))
				op := storeOp{key: int(r % keys), kind: "ppdggg"[r>>32%6]}
				key := fmt.Appendf(nil, "key %d", op.key)
				var found bool
				var err error
				call := time.Since(start)
				switch op.kind {
				case 'p':
					err = put(g, m, key)
				case 'd':
					err = m.change(string(key), false)
				default:
					_, found, err = guard.Get(t.Context(), g, key, m.has)
				}
				if err != nil {
					t.Error(err)
				}
				histories[id] = append(histories[id], porcupine.Operation{ClientId: id, Input: op, Call: int64(call), Output: found, Return: int64(time.Since(start))})
				pause(r >> 40 % 4)
			}
		})
	}
	wg.Wait()
	done.Store(true)
	builder.Wait()
	return slices.Concat(histories...)
}

// TestGuardIsLinearizable: a store behind a guard that is built again and again answers as a store
// without one.
func TestGuardIsLinearizable(t *testing.T) {
	histories, broken := search(t, *operations, storeModel, func(round uint64) []porcupine.Operation {
		return recordStore(t, round, func(g *guard.Guard, m *mapStore, key []byte) error {
			return g.Put(func() error { return m.put(key) }, key)
		})
	})
	require.Empty(t, broken, "not linearizable")
	t.Logf("%d histories", histories)
}

// TestAddFirstIsNotLinearizable shows that the test above can fail: adding a key to the filter before
// the store has it loses keys that are put during a build.
func TestAddFirstIsNotLinearizable(t *testing.T) {
	histories, broken := search(t, 20_000_000, storeModel, func(round uint64) []porcupine.Operation {
		return recordStore(t, round, func(g *guard.Guard, m *mapStore, key []byte) error {
			if err := g.Put(func() error { return nil }, key); err != nil {
				return err
			}
			return m.put(key)
		})
	})
	require.NotEmpty(t, broken, "unnoticed in %d histories", histories)
	t.Logf("caught after %d histories", histories)
}
