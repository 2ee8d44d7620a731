package guard

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/internal/effort"
)

// Filters are swapped, and some builds fail, while keys are looked up, put and deleted. A lookup
// between the put of a key and its delete finds it.
func TestSwapsUnderLoad(t *testing.T) {
	swaps := effort.Times(200, 1000, 100_000)
	old := names(100)
	m := newMemStore(old...)
	g := must(New("", 100, 0.01, m))
	require.NoError(t, g.Open(t.Context()))
	var done atomic.Bool
	var lookups, puts, spared atomic.Int64
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() { // keys that are always there, and absent keys
			for i := 0; !done.Load(); i++ {
				if !g.Contains([]byte(old[i%len(old)])) {
					t.Errorf("false no: %s", old[i%len(old)])
				}
				if !g.Contains(fmt.Appendf(nil, "absent %d", i)) {
					spared.Add(1)
				}
				lookups.Add(2)
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		})
		wg.Go(func() { // its own keys
			for i := 0; !done.Load(); i++ {
				key := fmt.Sprint("own ", w, " ", i%50)
				_ = g.Put(func() error { m.put(key); return nil }, []byte(key))
				_, found, _ := Get(context.Background(), g, []byte(key), m.get)
				if !found {
					t.Errorf("false no: %s", key)
				}
				m.delete(key)
				puts.Add(1)
				if i%64 == 0 {
					m.mu.Lock()
					m.log = m.log[:0]
					m.mu.Unlock()
				}
			}
		})
	}
	for i := range swaps {
		ctx, cancel := context.WithCancel(t.Context())
		if i%7 == 3 {
			m.listing = cancel
		}
		err := g.Rebuild(ctx, uint64(100+i%100), 0.01)
		if m.listing = nil; err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		cancel()
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d swaps, %d lookups, %d spared, %d puts", swaps, lookups.Load(), spared.Load(), puts.Load())
}
