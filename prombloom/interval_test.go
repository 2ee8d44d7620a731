//go:build go1.25

package prombloom

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// TestInterval: a filter is asked once per interval, also if it fails.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &remote{stats: bloom.Stats{Params: bloom.Params{M: 64, K: 1}}, err: errors.New("broken")}
		c := New(time.Minute)
		c.Add("x", r)
		for i, want := range []int{1, 1, 1, 9, 9} {
			require.Equal(t, want, collect(c))
			require.EqualValues(t, 1+i/3, r.asked.Load())
			if i == 2 {
				r.err = nil
			}
			time.Sleep(25 * time.Second)
		}
	})
}

// TestSlow: a scrape waits for the documented time, also for a source that ignores its context. The
// source is down then, and is not asked again before it has answered. Its answer counts.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := false
		deaf := &remote{stats: bloom.Stats{Params: bloom.Params{M: 64, K: 1}}, wait: func(ctx context.Context) {
			_, limited = ctx.Deadline()
			time.Sleep(12 * time.Second)
		}}
		c := New(time.Second)
		c.Add("deaf", deaf)
		c.Add("fast", &remote{stats: bloom.Stats{Params: bloom.Params{M: 64}}})
		for round, want := range []int{10, 10, 18} { // down, down, up
			start := time.Now()
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if n := collect(c); n != want {
						t.Errorf("round %d: %d metrics, want %d", round, n, want)
					}
				})
			}
			wg.Wait()
			require.LessOrEqual(t, time.Since(start), timeout)
			require.EqualValues(t, 1, deaf.asked.Load())
		}
		require.True(t, limited)
	})
}
