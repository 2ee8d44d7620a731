package rotating

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/stretchr/testify/require"
)

// hooked returns a filter whose strategy calls a hook for each position.
func hooked(hook *func(), c *clock, generations int) *Filter {
	return must(100, 1e-6, time.Hour, generations, c.option(), WithBloom(bloom.WithStrategy(layeredtest.Hooked(hook))))
}

// TestOvertakenAgainAndAgain: an add during which layers are added again and again takes the lock
// and wins.
func TestOvertakenAgainAndAgain(t *testing.T) {
	var c clock
	var hook func()
	f := hooked(&hook, &c, 4)
	others, heldBack := 0, 0
	hook = func() {
		if !f.turning.TryLock() {
			heldBack++
			return
		}
		f.turning.Unlock()
		inner := hook
		hook = nil
		c.sleep(f.time.length)
		f.AddString(fmt.Sprint("other ", others))
		others++
		hook = inner
	}
	require.True(t, f.AddString("key"))
	require.GreaterOrEqual(t, others, patience)
	require.Positive(t, heldBack)
	hook = nil
	require.True(t, f.ContainsString("key"))
	require.False(t, f.AddString("key"))
}

// TestNoMemoryForALayer: the add that finds no memory for the next layer panics and releases its
// lock. The filter works again when there is memory.
func TestNoMemoryForALayer(t *testing.T) {
	var c clock
	f := must(100, 0.01, time.Hour, 2, c.option())
	f.AddString("before")
	scheme := f.scheme
	c.sleep(f.time.length)
	for name, begin := range map[string]func(){
		"without the lock": func() { f.AddString("key") },
		"with the lock": func() {
			f.turning.Lock()
			defer f.turning.Unlock()
			f.try(&adding{generation: f.time.generation()}, true)
		},
	} {
		f.scheme = bloom.Scheme{} // which makes no filter
		require.Panics(t, begin, name)
		require.True(t, f.turning.TryLock(), "%s: the lock is held", name)
		f.turning.Unlock()
		f.scheme = scheme
		require.True(t, f.ContainsString("before"), name)
		require.Len(t, *f.live.Load(), 1, name)
	}
	require.True(t, f.AddString("key"))
	require.False(t, f.AddString("before"))
	require.Len(t, *f.live.Load(), 2)
}
