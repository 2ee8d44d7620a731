package rotating

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

// steps is more than an add has.
const steps = 100

// hooked returns a strategy that calls a hook for each position, so that a test can interfere at
// every step of an add and a lookup.
func hooked(hook *func()) bloom.Strategy {
	return bloom.NewStrategy("hooked", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
		if *hook != nil {
			(*hook)()
		}
		return (h1 + uint64(i)*h2 + uint64(i*i*i)) % m
	})})
}

// TestTurnInTheMiddle: a generation ends at every step of an add, once, twice, or so often that the
// layer in use is forgotten. That add is the winner, and the only one.
func TestTurnInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for turns := 1; turns < 10; turns++ {
			var c clock
			var hook func()
			f := must(100, 1e-6, time.Hour, 2, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
			calls := 0
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
				hook = inner
			}
			if !f.AddString("key") {
				t.Errorf("step %d, %d turns: not new", at, turns)
			}
			if hook = nil; !f.ContainsString("key") {
				t.Errorf("step %d, %d turns: missing", at, turns)
			}
		}
	}
}

// TestRivalInTheMiddle: the same key is added at every step of an add, by a call that sees newer
// layers. Within the window, one of the two wins.
func TestRivalInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for turns := range 3 {
			var c clock
			var hook func()
			f := must(100, 1e-6, time.Hour, 2, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
			calls, winners := 0, 0
			hook = func() {
				if calls++; calls != at {
					return
				}
				inner := hook
				hook = nil
				for i := range turns {
					c.sleep(f.time.length)
					f.AddString(fmt.Sprint("other ", i))
				}
				if f.AddString("key") {
					winners++
				}
				hook = inner
			}
			if f.AddString("key") {
				winners++
			}
			if hook = nil; winners != 1 || !f.ContainsString("key") {
				t.Errorf("step %d, %d turns before: %d winners", at, turns, winners)
			}
		}
	}
}

// TestOvertakenAgainAndAgain: an add during which layers are added again and again takes the lock at
// last, and wins.
func TestOvertakenAgainAndAgain(t *testing.T) {
	var c clock
	var hook func()
	f := must(100, 1e-6, time.Hour, 4, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
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
	if !f.AddString("key") {
		t.Error("not new")
	}
	if others < patience || heldBack == 0 {
		t.Errorf("overtaken %d times, and then not for %d positions", others, heldBack)
	}
	hook = nil
	if !f.ContainsString("key") || f.AddString("key") {
		t.Error("missing")
	}
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
				f := must(100, 1e-6, time.Hour, 2, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
				renew := func() {
					c.sleep(f.time.length)
					f.RenewString("key")
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

// TestNoMemoryForALayer: the add that finds no memory for the next layer panics, releases its lock,
// and leaves a filter that works again when there is memory.
func TestNoMemoryForALayer(t *testing.T) {
	var c clock
	f := must(100, 0.01, time.Hour, 2, c.option())
	f.AddString("before")
	scheme := f.scheme
	begins := map[string]func(){
		"by a turn": func() { f.AddString("key") },
		"insisting": func() { f.insist(&adding{generation: f.time.generation()}) },
	}
	c.sleep(f.time.length)
	for name, begin := range begins {
		f.scheme = bloom.Scheme{} // which makes no filter
		require.Panics(t, begin, name)
		require.True(t, f.turning.TryLock(), "%s: the lock is held for ever", name)
		f.turning.Unlock()
		f.scheme = scheme
		require.True(t, f.ContainsString("before"), name)
		require.Len(t, *f.live.Load(), 1, name)
	}
	require.True(t, f.AddString("key"))
	require.False(t, f.AddString("before"))
	require.Len(t, *f.live.Load(), 2)
}
