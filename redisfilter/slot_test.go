package redisfilter

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSlots: a thousand handles one after the other, and one that is used all the time.
// The value stays as long as it is, and the one keeps its slot.
func TestSlots(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-4, noFront)
	length := s.Client.StrLen(bg, "f").Val()
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	mine := f.shards[0].life.Load().slot.Load()
	for i := range 1000 {
		g := open(t, s.Client, "f", 1000, 1e-4, noFront)
		_, err := g.Add(bg, keyOf(i))
		require.NoError(t, err)
		require.Equal(t, 1, bits64(g), "a slot each")
		// As if it were a minute later for each: the clock is the test's.
		at := s.Client.Time(bg).Val().Add(time.Duration(i) * time.Minute)
		slot := g.shards[0].life.Load().slot.Load()
		setUsed(t, s, "f", slot, at)
		if i%8 == 0 {
			mine.clock, mine.taken = at, time.Now()
			_, err = f.Add(bg, keyOf(i))
			require.NoError(t, err)
		}
		_, err = f.Contains(bg, keyOf(i))
		require.NoError(t, err)
	}
	require.Equal(t, length, s.Client.StrLen(bg, "f").Val())
	info, err := f.Info(bg)
	require.NoError(t, err)
	require.Equal(t, 16, info.Handles)
}

func bits64(f *Filter) int {
	if f.shards[0].life.Load().slot.Load() == nil {
		return 0
	}
	return 1
}

// setUsed sets when a slot was used last.
func setUsed(t *testing.T, s *server, key string, slot *slot, at time.Time) {
	t.Helper()
	b := binary.BigEndian.AppendUint32(nil, uint32(at.Unix()))
	require.NoError(t, s.Client.SetRange(bg, key, int64(slot.at+usedAt), string(b)).Err())
}

// TestSlotTakenOver: more handles at a time than there are slots. A handle that has
// lost its slot gets an error, and goes on with another one.
func TestSlotTakenOver(t *testing.T) {
	s := startServer(t)
	var handles []*Filter
	for i := range 17 {
		f := open(t, s.Client, "f", 1000, 1e-4, noFront)
		_, err := f.Add(bg, keyOf(i))
		require.NoError(t, err)
		handles = append(handles, f)
	}
	require.Equal(t, 16, handles[0].layout.slots)
	lost := 0
	for _, f := range handles {
		if _, err := f.Contains(bg, keyOf(0)); err != nil {
			require.ErrorIs(t, err, ErrLost)
			require.ErrorContains(t, err, "more than 16 handles add to it")
			lost++
			require.NoError(t, f.Reopen(bg))
			found, err := f.Contains(bg, keyOf(0))
			require.NoError(t, err)
			require.True(t, found)
		}
	}
	require.Equal(t, 1, lost)
}

// TestSlotsOfMany: handles that begin at the same moment all get slots of their own.
func TestSlotsOfMany(t *testing.T) {
	s := startServer(t)
	const handles = 40
	errs := make(chan error, handles)
	filters := make([]*Filter, handles)
	for i := range handles {
		filters[i] = open(t, s.Client, "f", 100_000, 1e-4, noFront)
		require.Greater(t, filters[i].layout.slots, 2*handles)
	}
	for i, f := range filters {
		go func() {
			for j := range 10 {
				if _, err := f.Add(bg, keyOf(100*i+j)); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range handles {
		require.NoError(t, <-errs)
	}
	owners := make(map[uint64]bool)
	for _, f := range filters {
		slot := f.shards[0].life.Load().slot.Load()
		require.False(t, owners[slot.at], "two have the same slot")
		owners[slot.at] = true
	}
}

// TestCompareAndSet holds the BITFIELD to what its comment says, for every relation of what is
// there to what is expected.
func TestCompareAndSet(t *testing.T) {
	s := startServer(t)
	numbers := []int64{0, 1, 2, 5, 1 << 31, 1<<61 + 7, maxNonce - 1, maxNonce}
	for _, there := range numbers {
		for _, before := range numbers {
			for _, after := range numbers[1:] {
				value := make([]byte, 1000)
				binary.BigEndian.PutUint64(value[500:], uint64(there))
				require.NoError(t, s.Client.Set(bg, "k", value, 0).Err())
				reply, err := s.Client.Do(bg, compareAndSet("k", 500, before, after, 77, 992)...).Slice()
				require.NoError(t, err)
				want := there
				if there == before || there == 0 {
					want = after
				}
				got := int64(binary.BigEndian.Uint64([]byte(s.Client.GetRange(bg, "k", 500, 507).Val())))
				require.Equal(t, want, got, "%d, from %d to %d", there, before, after)
				if there != after {
					require.Equal(t, want == after, reply[4] == after, "%d, from %d to %d: %v", there, before, after, reply)
				}
			}
		}
	}
}

// TestKeep: a handle that only asks after its first add renews its slot, and leaves nothing
// on a key that has vanished.
func TestKeep(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-4, noFront)
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	slot := f.shards[0].life.Load().slot.Load()
	used := func() int64 {
		return int64(binary.BigEndian.Uint32([]byte(s.Client.GetRange(bg, "f", int64(slot.at+usedAt), int64(slot.at+usedAt+3)).Val())))
	}
	before := used()
	slot.clock = slot.clock.Add(time.Hour)
	_, err = f.Contains(bg, keyOf(0))
	require.NoError(t, err)
	require.InDelta(t, before+3600, used(), 120)
	s.Client.Del(bg, "f")
	slot.clock = slot.clock.Add(time.Hour)
	_, err = f.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.Zero(t, s.Client.DBSize(bg).Val())
}
