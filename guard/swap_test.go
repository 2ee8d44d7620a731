package guard

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwapsUnderLoad: filters are swapped, some builds fail, while keys are looked up,
// put and deleted. Whoever asks for a key between its put and its delete finds it. 1000
// swaps, 100,000 with -long.
func TestSwapsUnderLoad(t *testing.T) {
	swaps := times(200, 1000, 100_000)
	old := names(100)
	m := newMemStore(old...)
	g := must(New("", 100, 0.01, m))
	require.NoError(t, g.Open(t.Context()))
	var done atomic.Bool
	var lookups, puts, spared atomic.Int64
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() { // keys that are always there, and never
			for i := 0; !done.Load(); i++ {
				if !g.Contains([]byte(old[i%len(old)])) {
					t.Errorf("false no: %s", old[i%len(old)])
				}
				if !g.Contains(fmt.Appendf(nil, "absent %d", i)) {
					spared.Add(1)
				}
				lookups.Add(2)
				if i%16 == 0 {
					runtime.Gosched() // there may be one processor
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
	for i := 0; i < swaps; {
		ctx, cancel := context.WithCancel(t.Context())
		if i%7 == 3 {
			m.listing = cancel
		}
		err := g.Rebuild(ctx, uint64(100+i%100), 0.01)
		if m.listing = nil; err == nil {
			i++
		} else {
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, g.Rebuild(t.Context(), 200, 0.01))
			i++
		}
		cancel()
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()
	require.EqualValues(t, swaps+1, g.Counts().Builds)
	t.Logf("%d swaps, %d lookups, %d spared, %d puts", swaps, lookups.Load(), spared.Load(), puts.Load())
}
