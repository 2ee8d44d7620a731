package scalable

import (
	"errors"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
)

const (
	steps    = 100 // more than an add has
	inTheAdd = 6   // the lookup before the add asks for four positions
)

// once calls interfere in the hook's call number at.
func once(hook *func(), at int, interfere func()) {
	calls := 0
	*hook = func() {
		if calls++; calls == at {
			*hook = nil
			interfere()
		}
	}
}

// TestTicketsComeBack: of two adds that take a ticket for the same key, the loser gives it back.
func TestTicketsComeBack(t *testing.T) {
	var hook func()
	f := must(100, 1e-6, bloom.WithStrategy(layeredtest.Hooked(&hook)))
	for _, at := range []int{1, inTheAdd} {
		key := string(rune('0' + at))
		once(&hook, at, func() { f.AddString(key) })
		if added, _ := f.AddString(key); added {
			t.Error("two winners")
		}
	}
	if got := f.Stats().EstimatedCount; got != 2 {
		t.Errorf("EstimatedCount = %d, want 2", got)
	}
}

// TestPanicInTheMiddle: a custom strategy that panics takes the room of one key with it, and no
// add waits for that room.
func TestPanicInTheMiddle(t *testing.T) {
	var hook func()
	f := oneLayer(2, 1e-6, bloom.WithStrategy(layeredtest.Hooked(&hook)))
	once(&hook, inTheAdd, func() { panic("custom") })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		f.AddString("key")
	}()
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
	f := oneLayer(1, 1e-6, bloom.WithStrategy(layeredtest.Hooked(&hook)))
	waited := false
	once(&hook, inTheAdd, func() {
		waited = true
		if added, err := f.AddString("key"); added || !errors.Is(err, ErrFull) {
			t.Errorf("while the same key is added: %v, %v", added, err)
		}
	})
	if added, err := f.AddString("key"); !added || err != nil || !waited {
		t.Errorf("the add below it: %v, %v", added, err)
	}
	if added, err := f.AddString("key"); added || err != nil {
		t.Errorf("the key is present: %v, %v", added, err)
	}
}
