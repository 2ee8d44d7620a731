package redisfilter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrontSavesRoundTrips adds a stream of which nine in ten keys were there
// before, in no order.
func TestFrontSavesRoundTrips(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 10000, 1e-6)
	before := calls(t, s.Client, "bitfield")
	new := 0
	const adds = 10000
	for i := range adds {
		n := i / 10
		if i%10 != 0 {
			n = i * 7919 % (i/10 + 1)
		}
		added, err := f.Add(bg, keyOf(n))
		require.NoError(t, err)
		if added {
			new++
		}
	}
	require.Equal(t, adds/10, new)
	trips := float64(calls(t, s.Client, "bitfield")-before) / adds
	require.LessOrEqual(t, trips, 0.15, "round trips an add")

	// The same stream in batches, by somebody else who learns from asking.
	g := open(t, s.Client, "f", 10000, 1e-6)
	_, err := askEach(bg, g, keysOf(0, adds/10))
	require.NoError(t, err)
	before = calls(t, s.Client, "bitfield")
	added, err := addEach(bg, g, keysOf(0, adds/10))
	require.NoError(t, err)
	require.Zero(t, count(added))
	require.Equal(t, before, calls(t, s.Client, "bitfield"))
}

// TestFrontIsASubset: after any mixture of answers, no bit is in the front that the
// server does not have.
func TestFrontIsASubset(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.05, WithShards(2))
	other := open(t, s.Client, "f", 1000, 0.05, WithShards(2))
	for i := 0; i < 2000; i += 100 {
		_, err := addEach(bg, other, keysOf(i, i+30))
		require.NoError(t, err)
		_, err = askEach(bg, f, keysOf(i, i+100))
		require.NoError(t, err)
		_, err = addEach(bg, f, keysOf(i+20, i+50))
		require.NoError(t, err)
	}
	remote, err := f.NewLocal()
	require.NoError(t, err)
	require.NoError(t, f.Pull(bg, remote.Filters()...))
	known := 0
	for i, sh := range f.shards {
		words := remote.Filters()[i].Words()
		for j := range words {
			w := sh.life.Load().front[j].Load()
			require.Zero(t, w&^words[j].Load(), "shard %d, word %d", i, j)
			if w != 0 {
				known++
			}
		}
	}
	require.Positive(t, known)
}

// TestFrontLimit: a filter larger than the limit has no front.
func TestFrontLimit(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 100_000, 0.01, WithFront(129_000), WithShards(2))
	require.Nil(t, f.shards[1].life.Load().front)
	f = open(t, s.Client, "f", 100_000, 0.01, WithFront(130_000), WithShards(2))
	require.NotNil(t, f.shards[1].life.Load().front)
}

// TestKnownKeysCostNoAllocation: the common case of a crawler.
func TestKnownKeysCostNoAllocation(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	key := keyOf(1)
	_, err := f.Add(bg, key)
	require.NoError(t, err)
	if raceEnabled {
		t.Skip("NOT TESTED: allocations, for the race detector makes sync.Pool forget")
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() { f.Add(bg, key); f.Contains(bg, key) }))
}
