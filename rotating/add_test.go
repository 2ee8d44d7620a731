package rotating

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered/layeredtest"
	"github.com/stretchr/testify/require"
)

// steps is more than an add has.
const steps = 100

// hooked returns a filter whose strategy calls a hook for each position.
func hooked(hook *func(), c *clock, generations int) *Filter {
	return must(100, 1e-6, time.Hour, generations, c.option(), WithBloom(bloom.WithStrategy(layeredtest.Hooked(hook))))
}

// TestRivalInTheMiddle: at every step of an add, generations end, up to so many that the layer in
// use is forgotten. Within the window, the same key is added too. The add wins, or its rival does.
func TestRivalInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for turns := range 10 {
			var c clock
			var hook func()
			f := hooked(&hook, &c, 2)
			calls, winners := 0, 0
			add := func() {
				if f.AddString("key") {
					winners++
				}
			}
			hook = func() {
				if calls++; calls != at {
					return
				}
				inner := hook
				hook = nil
				for i := range turns {
					c.sleep(f.time.length)
					if !f.AddString(fmt.Sprint("other ", i)) {
						t.Fatalf("step %d, %d turns: another key is not new", at, turns)
					}
				}
				if turns < 3 {
					add()
				}
				hook = inner
			}
			add()
			if hook = nil; winners != 1 || !f.ContainsString("key") {
				t.Errorf("step %d, %d turns: %d winners", at, turns, winners)
			}
		}
	}
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

// TestFollow: a key is renewed, and its layer forgotten, at every step of a lookup, once or more
// often. The lookup finds the key.
func TestFollow(t *testing.T) {
	tried := 0
	for at := 1; at < 20; at++ {
		for every := 1; every < 8; every++ {
			for turns := 1; turns < 6; turns++ {
				var c clock
				var hook func()
				f := hooked(&hook, &c, 2)
				renew := func() {
					c.sleep(f.time.length)
					f.Renew([]byte("key"))
				}
				for range 4 {
					renew()
				}
				calls, left := 0, 6
				hook = func() { // at that step, and at some later ones
					if calls++; calls >= at && (calls-at)%every == 0 && left > 0 {
						left--
						inner := hook
						hook = nil
						for range turns {
							renew()
						}
						hook = inner
						tried++
					}
				}
				if !f.ContainsString("key") {
					t.Errorf("step %d, every %d, %d turns: missing", at, every, turns)
				}
				if calls, left = 0, 6; f.ContainsMany([][]byte{[]byte("key")}, nil) != 1 {
					t.Errorf("step %d, every %d, %d turns: missing in a batch", at, every, turns)
				}
			}
		}
	}
	t.Logf("%d times", tried)
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
		"by a turn": func() { f.AddString("key") },
		"insisting": func() { f.insist(&adding{generation: f.time.generation()}) },
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
