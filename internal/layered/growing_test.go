package layered

import (
	"errors"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

var errNoRoom = errors.New("no room")

// hooked returns a Growing of small layers that calls a hook for each position. It has at most that many
// layers, each for that many keys.
func hooked(t *testing.T, hook *func(), layers int, keys uint64) *Growing {
	strategy := bloom.NewStrategy("hooked", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if *hook != nil {
			(*hook)()
		}
		return (h1 + uint64(i)*h2) % m
	})})
	g := &Growing{Remembers: 3}
	g.Next = func(now Layers, generation int64) (Layers, error) {
		for len(now) > 0 && now[0].Generation < generation-g.Remembers {
			now = now[1:]
		}
		if len(now) == layers {
			return nil, errNoRoom
		}
		f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 1 << 20, K: 4}, bloom.WithStrategy(strategy)))
		return append(Layers(nil), now...).Append(f, generation, 0, keys), err
	}
	first, err := g.Next(nil, 0)
	require.NoError(t, err)
	g.Begin(first)
	return g
}

// added adds the i-th of different keys.
func added(t *testing.T, g *Growing, i uint64, generation int64) bool {
	won, err := g.Add(i*0x9e3779b97f4a7c15, i*0xbf58476d1ce4e5b9, generation, false)
	require.NoError(t, err)
	return won
}

// TestOvertakenAgainAndAgain: an add during which generations begin again and again takes the lock
// and wins. It counts once.
func TestOvertakenAgainAndAgain(t *testing.T) {
	var hook func()
	g := hooked(t, &hook, 10, 2)
	generation, heldBack := int64(0), 0
	hook = func() {
		if !g.growing.TryLock() {
			heldBack++
			return
		}
		g.growing.Unlock()
		inner := hook
		hook = nil
		generation++
		require.True(t, added(t, g, uint64(generation), generation))
		hook = inner
	}
	require.True(t, added(t, g, 1<<40, 0))
	require.GreaterOrEqual(t, generation, int64(patience))
	require.Positive(t, heldBack)
	require.EqualValues(t, 5, g.Load().Keys(), "four layers, each with one key of another add")
	hook = nil
	require.False(t, added(t, g, 1<<40, generation))
}

// TestFullAfterItWasOvertaken: before an add with a ticket ends, others add a layer and take all room. The
// add has won all the same, and its key counts once.
func TestFullAfterItWasOvertaken(t *testing.T) {
	var hook func()
	g := hooked(t, &hook, 2, 2)
	require.True(t, added(t, g, 1, 0))
	calls := 0
	hook = func() {
		if calls++; calls < 6 { // after the lookup, which asks for four positions
			return
		}
		hook = nil
		require.True(t, added(t, g, 2, 0))
		require.True(t, added(t, g, 3, 0))
		_, err := g.Add(4, 44, 0, false)
		require.ErrorIs(t, err, failure.ErrFull)
		require.ErrorIs(t, err, errNoRoom)
	}
	require.True(t, added(t, g, 5, 0))
	require.Len(t, *g.Load(), 2)
	require.EqualValues(t, 4, g.Load().Keys())
	require.False(t, added(t, g, 5, 0))
}

// TestOvertakenByAJump: two adds of a key set its bits in different layers after the clock has jumped, and a third
// add has dropped all layers. Only one of the two wins: the first could have come before the jump.
func TestOvertakenByAJump(t *testing.T) {
	var hook func()
	g := hooked(t, &hook, 100, 1)
	for i := range uint64(9) {
		require.True(t, added(t, g, i+1, 0))
	}
	// add adds the key and calls f before its first bit is set: after it has looked into all layers, added one,
	// and looked into all again.
	winners := 0
	add := func(generation int64, f func()) {
		layers := len(*g.Load())
		calls := 4*layers + 4*(layers+1) + 1
		hook = func() {
			if calls--; calls == 0 {
				hook = nil
				f()
			}
		}
		if added(t, g, 1<<40, generation) {
			winners++
		}
		require.LessOrEqual(t, calls, 0)
	}
	add(0, func() {
		require.True(t, added(t, g, 10, 0))
		add(0, func() {
			require.True(t, added(t, g, 1<<40, 1000))
			require.Len(t, *g.Load(), 1)
		})
	})
	require.LessOrEqual(t, winners, 1)
}
