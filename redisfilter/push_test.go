package redisfilter

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// TestPush: the bytes in Redis are those of the local words, whatever was there.
func TestPush(t *testing.T) {
	s := startServer(t)
	for _, n := range []uint64{1, 1000, 3_000_000} { // the last one is 3.6 MB: many chunks
		s.Client.FlushAll(bg)
		local := newLocalFilter(t, n, 0.01)
		local.AddMany(keysOf(0, int(min(n, 5000))), nil)
		var reports []uint64
		f := open(t, s.Client, "f", n, 0.01, WithProgress(func(done, total uint64) {
			require.Equal(t, local.SizeBytes(), total)
			reports = append(reports, done)
		}))
		_, err := addEach(bg, f, keysOf(90000, 91000))
		require.NoError(t, err)
		other := open(t, s.Client, "f", n, 0.01)
		require.NoError(t, f.Push(bg, local))
		require.Equal(t, uint64(0), reports[0])
		require.Equal(t, local.SizeBytes(), reports[len(reports)-1])
		require.IsIncreasing(t, reports)
		for _, transfer := range []func(context.Context, ...*bloom.BloomFilter) error{f.Merge, f.Pull} {
			reports = nil
			require.NoError(t, transfer(bg, local))
			require.Equal(t, local.SizeBytes(), reports[len(reports)-1])
		}

		value, err := s.Client.Get(bg, "f").Bytes()
		require.NoError(t, err)
		require.True(t, bytes.Equal(wordBytes(local), value[headerBytes:f.layout.table()]))
		require.Equal(t, int64(1), s.Client.DBSize(bg).Val(), "no upload left over")
		require.Equal(t, time.Duration(-1), s.Client.TTL(bg, "f").Val(), "nor its expiry")

		_, err = other.Add(bg, keyOf(1))
		require.ErrorIs(t, err, ErrLost, "others are told that their keys are gone")
		found, err := askEach(bg, f, keysOf(0, int(min(n, 5000))))
		require.NoError(t, err)
		require.Equal(t, int(min(n, 5000)), count(found))
	}
}

// TestPushMergePullShards does the round trip with a filter of several shards.
func TestPushMergePullShards(t *testing.T) {
	s := startServer(t)
	const n = 20000
	f := open(t, s.Client, "f", n, 0.001, WithShards(4))
	here, err := f.NewLocal()
	require.NoError(t, err)
	addEach(bg, here, keysOf(0, 5000))
	require.NoError(t, f.Push(bg, here.Filters()...))
	requireSameBits(t, s.Client, f, here)

	_, err = addEach(bg, f, keysOf(5000, 10000))
	require.NoError(t, err)
	more, err := NewLocal(n, 0.001, WithShards(4))
	require.NoError(t, err)
	addEach(bg, more, keysOf(10000, 15000))
	require.NoError(t, f.Merge(bg, more.Filters()...))
	require.Equal(t, int64(4), s.Client.DBSize(bg).Val(), "no upload left over")

	all, err := NewLocal(n, 0.001, WithShards(4))
	require.NoError(t, err)
	addEach(bg, all, keysOf(0, 15000))
	requireSameBits(t, s.Client, f, all)
	for _, l := range []*Local{here, more} {
		require.NoError(t, f.Pull(bg, l.Filters()...))
		for i := range all.Filters() {
			require.True(t, all.Filters()[i].Equal(l.Filters()[i]))
		}
	}
}

// TestMergeLosesNothing merges while others add.
func TestMergeLosesNothing(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 100000, 1e-4)
	local := newLocalFilter(t, 100000, 1e-4)
	local.AddMany(keysOf(50000, 60000), nil)
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		i := 0
		for ; ; i += 50 {
			select {
			case <-stop:
				done <- i
				return
			default:
			}
			if _, err := addEach(bg, f, keysOf(i, i+50)); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		require.NoError(t, f.Merge(bg, local))
	}
	close(stop)
	n := <-done
	require.Positive(t, n)
	found, err := askEach(bg, open(t, s.Client, "f", 100000, 1e-4), append(keysOf(0, n), keysOf(50000, 60000)...))
	require.NoError(t, err)
	require.Equal(t, n+10000, count(found))
}

// TestTransfersNoticeLoss: what is gone cannot be merged or pulled.
func TestTransfersNoticeLoss(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	local := newLocalFilter(t, 1000, 0.01)
	for name, call := range map[string]func() error{
		"push":  func() error { return f.Push(bg, local) },
		"merge": func() error { return f.Merge(bg, local) },
		"pull":  func() error { return f.Pull(bg, local) },
		"info":  func() error { _, err := f.Info(bg); return err },
	} {
		require.NoError(t, f.Reopen(bg))
		require.NoError(t, call(), name)
		s.Client.Del(bg, "f")
		require.ErrorIs(t, call(), ErrLost, name)
		require.ErrorIs(t, call(), ErrLost, name)
		require.Zero(t, s.Client.DBSize(bg).Val(), "%s leaves nothing behind", name)
	}
	require.NoError(t, f.Reopen(bg))

	// Somebody else's contents do not get into a local filter.
	full := newLocalFilter(t, 1000, 0.01)
	full.AddMany(keysOf(0, 1000), nil)
	other := open(t, s.Client, "f", 1000, 0.01)
	require.NoError(t, other.Push(bg, full))
	require.ErrorIs(t, f.Pull(bg, local), ErrLost)
	require.Zero(t, local.Stats().FillRatio)
	require.NoError(t, f.Reopen(bg))
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
}

// TestLostDuringPull: the filter is exchanged while it is pulled, after the first
// chunk of many.
func TestLostDuringPull(t *testing.T) {
	s := startServer(t)
	const n = 1_000_000
	local := newLocalFilter(t, n, 0.01)
	other := open(t, s.Client, "f", n, 0.01)
	exchanged := false
	f := open(t, s.Client, "f", n, 0.01, WithProgress(func(done, total uint64) {
		if done > 0 && !exchanged {
			exchanged = true
			require.NoError(t, other.Push(bg, newLocalFilter(t, n, 0.01)))
		}
	}))
	require.ErrorIs(t, f.Pull(bg, local), ErrLost)
}

func TestTransferOfOtherLayouts(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	for name, local := range map[string][]*bloom.BloomFilter{
		"none":     nil,
		"nil":      {nil},
		"two":      {newLocalFilter(t, 1000, 0.01), newLocalFilter(t, 1000, 0.01)},
		"n":        {newLocalFilter(t, 2000, 0.01)},
		"strategy": {bloom.MustNew(1000, 0.01, bloom.WithStrategy(bloom.SeededHashing))},
		"seed":     {bloom.MustNew(1000, 0.01, bloom.WithSeed(3))},
		"hash":     {bloom.MustNew(1000, 0.01, bloom.WithStrategy(bloom.Blocked2), bloom.WithHash(bloom.RapidHash))},
	} {
		require.ErrorIs(t, f.Push(bg, local...), bloom.ErrIncompatible, name)
		require.ErrorIs(t, f.Merge(bg, local...), bloom.ErrIncompatible, name)
		require.ErrorIs(t, f.Pull(bg, local...), bloom.ErrIncompatible, name)
	}
}

func TestInfo(t *testing.T) {
	s := startServer(t)
	const n, p = 10000, 0.01
	for _, shards := range []int{1, 4} {
		s.Client.FlushAll(bg)
		f := open(t, s.Client, "f", n, p, WithShards(shards))
		_, err := addEach(bg, f, keysOf(0, n))
		require.NoError(t, err)
		info, err := f.Info(bg)
		require.NoError(t, err)
		require.Equal(t, f.Params(), bloom.Params{N: info.N, P: info.P, M: info.M, K: info.K})
		require.Equal(t, "murmur3", info.Hash)
		require.Equal(t, 1, info.Handles)
		require.Equal(t, "blocked-2", info.Strategy)
		require.Equal(t, shards, info.Shards)
		// The estimate's deviation is sqrt(n)·0.3 or so.
		require.InDelta(t, n, info.EstimatedCount, 5*math.Sqrt(n))
		require.InDelta(t, p, info.EstimatedFalsePositiveRate, 0.2*p) // small shards have 2 % of room
		require.InDelta(t, 0.44, info.FillRatio, 0.03)
		bytes := int64(0)
		for _, key := range f.Keys() {
			bytes += s.Client.StrLen(bg, key).Val()
		}
		require.Equal(t, bytes, int64(info.SizeBytes))
		require.Contains(t, info.String(), "expires=never")
	}

	// The blocks of this one are not equally full, and a key's bits not all different.
	f := open(t, s.Client, "blocked", n, 1e-4, WithBloom(bloom.WithStrategy(bloom.Blocked)), WithTTL(time.Hour))
	local, err := f.NewLocal()
	require.NoError(t, err)
	_, err = addEach(bg, local, keysOf(0, n))
	require.NoError(t, err)
	require.NoError(t, f.Merge(bg, local.Filters()...))
	info, err := f.Info(bg)
	require.NoError(t, err)
	require.InDelta(t, float64(local.Filters()[0].Stats().EstimatedCount), info.EstimatedCount, 0.5)
	require.InEpsilon(t, local.Filters()[0].Stats().EstimatedFalsePositiveRate, info.EstimatedFalsePositiveRate, 0.1)
	require.InEpsilon(t, 1e-4, info.EstimatedFalsePositiveRate, 0.1)
	require.Contains(t, info.String(), "expires=20")
	require.Contains(t, info.LogValue().String(), "name=blocked")
	require.Contains(t, info.LogValue().String(), "expires=20")

	// Full: no count, and every answer is yes.
	all := local.Filters()[0].Words()
	for i := range all {
		all[i].Store(math.MaxUint64)
	}
	require.NoError(t, f.Merge(bg, local.Filters()...))
	info, err = f.Info(bg)
	require.NoError(t, err)
	require.Equal(t, uint64(math.MaxUint64), info.EstimatedCount)
	require.Equal(t, 1.0, info.EstimatedFalsePositiveRate)
}

// TestLargeFilter is one of 40 MiB over several keys: no misses, and the same bits
// as in the process.
func TestLargeFilter(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: a filter of 40 MiB")
	}
	s := startServer(t)
	const n = 35_000_000
	local, err := NewLocal(n, 0.01)
	require.NoError(t, err)
	require.Len(t, local.Filters(), 2)
	require.Greater(t, 2*local.Filters()[0].SizeBytes(), uint64(40<<20))
	addEach(bg, local, keysOf(0, 60_000))

	f := open(t, s.Client, "f", n, 0.01)
	require.Len(t, f.Keys(), 2)
	require.NoError(t, f.Push(bg, local.Filters()...))
	requireSameBits(t, s.Client, f, local)
	want, _ := addEach(bg, local, keysOf(50_000, 70_000))
	added, err := addEach(bg, f, keysOf(50_000, 70_000))
	require.NoError(t, err)
	require.Equal(t, want, added)
	found, err := askEach(bg, f, keysOf(0, 70_000))
	require.NoError(t, err)
	require.Equal(t, 70_000, count(found), "no misses")

	pulled, err := f.NewLocal()
	require.NoError(t, err)
	require.NoError(t, f.Pull(bg, pulled.Filters()...))
	for i := range pulled.Filters() {
		require.True(t, pulled.Filters()[i].Equal(local.Filters()[i]))
	}
}

// TestLocalStats: the local filter and the one in Redis say the same of themselves.
// TestLocalStrings: a string is the same key as its bytes, with one shard and with several.
func TestLocalStrings(t *testing.T) {
	var texts []string
	for _, key := range keysOf(0, 300) {
		texts = append(texts, string(key))
	}
	for _, shards := range []int{1, 3} {
		l, err := NewLocal(1000, 1e-6, WithShards(shards))
		require.NoError(t, err)
		n, err := l.AddStrings(bg, texts[:200], make([]bool, 200))
		require.NoError(t, err)
		require.Equal(t, 200, n)
		added, err := addEach(bg, l, keysOf(100, 300))
		require.NoError(t, err)
		require.Equal(t, 100, count(added))
		found := make([]bool, 301)
		n, err = l.ContainsStrings(bg, append(texts, "else"), found)
		require.NoError(t, err)
		require.Equal(t, 300, n)
		require.False(t, found[300])
		require.Panics(t, func() { l.AddStrings(bg, texts, found) })
	}
}

func TestLocalStats(t *testing.T) {
	s := startServer(t)
	for _, shards := range []int{1, 4} {
		s.Client.FlushAll(bg)
		f := open(t, s.Client, "f", 10_000, 0.01, WithShards(shards))
		local := localWith(t, f, 0, 5000)
		require.NoError(t, f.Push(bg, local.Filters()...))
		want, err := f.Stats(bg)
		require.NoError(t, err)
		got := local.Stats()
		require.Equal(t, f.layout.bits*uint64(len(f.shards)), local.SizeBytes())
		require.Greater(t, f.SizeBytes(), local.SizeBytes())
		require.InDelta(t, float64(want.EstimatedCount), float64(got.EstimatedCount), float64(shards))
		require.InEpsilon(t, want.EstimatedFalsePositiveRate, got.EstimatedFalsePositiveRate, 0.15, "one from the blocks, one from the count")
		got.N, got.P = want.N, want.P // of each shard
		got.EstimatedCount, got.EstimatedFalsePositiveRate = want.EstimatedCount, want.EstimatedFalsePositiveRate
		require.Equal(t, local.SizeBytes(), got.SizeBytes)
		got.SizeBytes = want.SizeBytes
		require.Equal(t, want, got)
		require.Contains(t, local.String(), fmt.Sprintf("shards=%d)", shards))

		for _, l := range local.Filters() {
			for i := range l.Words() {
				l.Words()[i].Store(math.MaxUint64)
			}
		}
		require.Equal(t, uint64(math.MaxUint64), local.Stats().EstimatedCount)
	}
}
