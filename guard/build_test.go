//go:build go1.25

package guard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A build lists the keys after the puts under way have ended, and stops waiting when it is cancelled. Puts do not wait
// for it.
func TestBuildWaitsForPuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore()
		g := must(New("", 10, 1e-6, m))
		commit, listed := make(chan bool), false
		m.listing = func() { listed = true }
		go g.Put(func() error { <-commit; m.put("slow"); return nil }, []byte("slow"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, g.Open(ctx), context.DeadlineExceeded)
		put(t, g, m, "other")
		done := make(chan error)
		go func() { done <- g.Open(t.Context()) }()
		synctest.Wait()
		require.False(t, listed, "the put entered two states ago")
		require.ErrorIs(t, g.Rebuild(ctx, 10, 0.1), context.DeadlineExceeded, "another build has the turn")
		close(commit)
		require.NoError(t, <-done)
		require.True(t, listed && g.ContainsString("slow") && g.ContainsString("other") && !g.ContainsString("x"))
	})
}
