package scalable

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

const inTheAdd = 6 // the lookup before the add asks for four positions

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

// TestCountAfterStorms: Count is the number of true answers, also in a copy.
func TestCountAfterStorms(t *testing.T) {
	for range testkit.Times(20, 50, 1000) {
		f := must(1, 0.01)
		layeredtest.Storm(t, f, func() {})
		g, err := Read(bytes.NewReader(conformance.Written(t, f)))
		if err != nil || g.Count() != f.Count() {
			t.Fatalf("%v, a copy of %v: %v", g, f, err)
		}
	}
}

// TestPanicInTheMiddle: a custom strategy that panics takes the room of one key with it.
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
	if added, err := f.AddString("one more"); added || !errors.Is(err, bloom.ErrFull) {
		t.Errorf("without room: %v, %v", added, err)
	}
}

// TestLastRoomIsTaken: while an add holds the last room, another one is refused at once.
func TestLastRoomIsTaken(t *testing.T) {
	var hook func()
	f := oneLayer(1, 1e-6, bloom.WithStrategy(layeredtest.Hooked(&hook)))
	refused := false
	once(&hook, inTheAdd, func() {
		added, err := f.AddString("key")
		refused = !added && errors.Is(err, bloom.ErrFull)
	})
	if added, err := f.AddString("key"); !added || err != nil || !refused {
		t.Errorf("the add below it: %v, %v; refused meanwhile: %v", added, err, refused)
	}
	if added, err := f.AddString("key"); added || err != nil {
		t.Errorf("the key is present: %v, %v", added, err)
	}
}

// TestLayersComeMeanwhile: while an add is in its layer, others add the last layer and fill it. The add has won and has
// no room there, so it keeps the room that it has.
func TestLayersComeMeanwhile(t *testing.T) {
	var hook func()
	strategy := bloom.WithStrategy(layeredtest.Hooked(&hook))
	two := must(1, 1e-6, strategy)
	two.grow()
	f := must(1, 1e-6, strategy, bloom.WithMaxBytes(two.SizeBytes()))
	once(&hook, inTheAdd, func() { fill(f, 0, 2) })
	if added, err := f.AddString("key"); !added || err != nil || !f.now()[1].Contains([]byte("key")) || f.Count() != 3 {
		t.Errorf("%v, %v, in %v", added, err, f)
	}
}
