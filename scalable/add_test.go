package scalable

import (
	"errors"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
)

const (
	steps    = 100 // more than an add has
	inTheAdd = 5   // the lookup before the add asks for four positions
)

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

// TestBirthInTheMiddle: layers are added at every step of an add. That add is still the winner, and
// the only one.
func TestBirthInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		var hook func()
		f := must(1, 1e-6, WithGrowth(1), WithBloom(bloom.WithStrategy(hooked(&hook))))
		calls, births := 0, 0
		hook = func() {
			if calls++; calls != at {
				return
			}
			inner := hook
			hook = nil
			for _, other := range []string{"one", "two", "three"}[:at%3+1] { // each fills a layer
				if added, err := f.AddString(other); !added || err != nil {
					t.Fatalf("step %d: %q: %v, %v", at, other, added, err)
				}
			}
			births = len(f.Layers()) - 1
			hook = inner
		}
		if added, err := f.AddString("key"); !added || err != nil {
			t.Errorf("step %d, %d births: %v, %v", at, births, added, err)
		}
		hook = nil
		if added, err := f.AddString("key"); added || err != nil || !f.ContainsString("key") {
			t.Errorf("step %d, %d births: the key is not there", at, births)
		}
	}
}

// TestRivalInTheMiddle: the same key is added at every step of an add, by a call that sees newer
// layers. One of the two wins.
func TestRivalInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for others := range 3 {
			var hook func()
			f := must(1, 1e-6, WithGrowth(1), WithBloom(bloom.WithStrategy(hooked(&hook))))
			calls, winners := 0, 0
			hook = func() {
				if calls++; calls != at {
					return
				}
				inner := hook
				hook = nil
				for _, other := range []string{"one", "two"}[:others] {
					f.AddString(other)
				}
				if added, _ := f.AddString("key"); added {
					winners++
				}
				hook = inner
			}
			if added, _ := f.AddString("key"); added {
				winners++
			}
			if hook = nil; winners != 1 || !f.ContainsString("key") {
				t.Errorf("step %d, %d births before: %d winners", at, others, winners)
			}
		}
	}
}

// TestTicketsComeBack: of two adds that take a ticket for the same key, the loser gives it back.
func TestTicketsComeBack(t *testing.T) {
	var hook func()
	f := must(100, 1e-6, WithBloom(bloom.WithStrategy(hooked(&hook))))
	hook = func() {
		inner := hook
		hook = nil
		f.AddString("key")
		hook = inner
	}
	if added, _ := f.AddString("key"); added {
		t.Error("two winners")
	}
	calls := 0
	hook = func() { // in the add itself, not in the question before it
		if calls++; calls == inTheAdd {
			f.AddString("another")
		}
	}
	f.AddString("another")
	hook = nil
	if got := f.Stats().EstimatedCount; got != 2 {
		t.Errorf("EstimatedCount = %d, want 2", got)
	}
}

// TestPanicInTheMiddle: a custom strategy that panics takes the room of one key with it, and no
// add waits for that room.
func TestPanicInTheMiddle(t *testing.T) {
	var hook func()
	f := oneLayer(2, 1e-6, WithBloom(bloom.WithStrategy(hooked(&hook))))
	calls := 0
	hook = func() {
		if calls++; calls == inTheAdd { // in the add, after the question before it
			panic("own")
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		f.AddString("key")
	}()
	hook = nil
	if added, err := f.AddString("another"); !added || err != nil {
		t.Errorf("the last room: %v, %v", added, err)
	}
	if added, err := f.AddString("one more"); added || !errors.Is(err, ErrFull) || !f.full.Load().usedUp.Load() {
		t.Errorf("without room: %v, %v", added, err)
	}
}

// TestAddThatDoesNotEnd: an add that waits for one that does not end gives up after a second.
func TestAddThatDoesNotEnd(t *testing.T) {
	var hook func()
	f := oneLayer(1, 1e-6, WithBloom(bloom.WithStrategy(hooked(&hook))))
	calls := 0
	hook = func() {
		if calls++; calls == inTheAdd {
			hook = nil
			if added, err := f.AddString("key"); added || !errors.Is(err, ErrFull) {
				t.Errorf("while the same key is added: %v, %v", added, err)
			}
		}
	}
	if added, err := f.AddString("key"); !added || err != nil || calls < inTheAdd {
		t.Errorf("the add below it: %v, %v", added, err)
	}
	if added, err := f.AddString("key"); added || err != nil {
		t.Errorf("the key is there: %v, %v", added, err)
	}
}
