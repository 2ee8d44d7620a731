package redisfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
)

// TestScriptsAreUsed: batches of keys in one or two words are added by a script, also after
// the server has forgotten it; all others, and single keys, by BITFIELD.
func TestScriptsAreUsed(t *testing.T) {
	s := startServer(t)
	for _, c := range []struct {
		strategy bloom.Strategy
		keys     int
		script   bool
	}{
		{bloom.Blocked1, 10, true}, {bloom.Blocked2, 10, true}, {bloom.Blocked2, scriptFrom, true},
		{bloom.Blocked2, scriptFrom - 1, false}, {bloom.Blocked2, 1, false},
		{bloom.Blocked4, 10, false}, {bloom.DoubleHashing, 10, false}, {guava.Mitz64, 10, false},
	} {
		name := fmt.Sprint(c.strategy, c.keys)
		f := open(t, s.Client, name, 1000, 1e-3, noFront, WithBloom(bloom.WithStrategy(c.strategy)))
		_, err := f.AddMany(bg, keysOf(900, 901), nil)
		require.NoError(t, err)
		require.NoError(t, s.Client.ScriptFlush(bg).Err())
		for round, want := range []int{2, 1} { // EVALSHA is refused, and EVAL brings it
			before := calls(t, s.Client, "evalsha") + calls(t, s.Client, "eval")
			n, err := f.AddMany(bg, keysOf(round*100, round*100+c.keys), nil)
			require.NoError(t, err)
			require.Equal(t, c.keys, n)
			if !c.script {
				want = 0
			}
			require.Equal(t, want, calls(t, s.Client, "evalsha")+calls(t, s.Client, "eval")-before, name)
		}
	}
}

// TestScriptsNotAllowed: a user who must not call them adds all the same, and asks for it
// once.
func TestScriptsNotAllowed(t *testing.T) {
	s := startServer(t)
	for i, rules := range [][]any{{"-@scripting"}, {"-evalsha"}} {
		name := fmt.Sprint("user", i)
		require.NoError(t, s.Client.Do(bg, append([]any{"ACL", "SETUSER", name, "on", ">x", "~*", "+@all"}, rules...)...).Err())
		client := redis.NewClient(&redis.Options{Addr: s.Addr, Username: name, Password: "x"})
		defer client.Close()
		f := open(t, client, name, 1000, 1e-4, noFront, WithShards(3))
		for from := 0; from < 500; from += 100 {
			n, err := f.AddMany(bg, keysOf(from, from+100), nil)
			require.NoError(t, err)
			require.Equal(t, 100, n)
		}
		require.True(t, f.noScripts.Load())
		n, err := f.ContainsMany(bg, keysOf(0, 500), nil)
		require.NoError(t, err)
		require.Equal(t, 500, n)
	}
}

// TestScriptChangesNothingElse: on a key that has vanished, is another life or something
// else, a batch changes nothing and leaves nothing. A single add to a large filter is sent by
// the script, too: a BITFIELD would first make a value of its length.
func TestScriptChangesNothingElse(t *testing.T) {
	s := startServer(t)
	for name, c := range map[string]struct {
		n    uint64
		keys int
	}{"batch": {1000, 10}, "single, large": {35_000_000, 1}} {
		for what, replace := range map[string]func(){
			"vanished":  func() { s.Client.Del(bg, "f") },
			"made anew": func() { s.Client.Del(bg, "f"); open(t, s.Client, "f", c.n, 0.01, WithShards(1)) },
			"text":      func() { s.Client.Set(bg, "f", string(make([]byte, 5000)), 0) },
		} {
			s.Client.FlushAll(bg)
			f := open(t, s.Client, "f", c.n, 0.01, noFront, WithShards(1))
			_, err := f.AddMany(bg, keysOf(0, 10), nil)
			require.NoError(t, err)
			replace()
			before := s.Client.Dump(bg, "f").Val()
			require.NoError(t, s.Client.ConfigResetStat(bg).Err())
			_, err = f.AddMany(bg, keysOf(100, 100+c.keys), nil)
			require.ErrorIs(t, err, ErrLost, "%s %s", name, what)
			require.NotErrorIs(t, err, ErrUnknown)
			failed, ok := errors.AsType[*AddError](err)
			require.True(t, ok)
			require.Len(t, failed.NotAdded, c.keys)
			require.Equal(t, before, s.Client.Dump(bg, "f").Val(), "%s %s", name, what)
			require.Zero(t, calls(t, s.Client, "bitfield"))
		}
	}
}

// TestSlotNumbers: scripts and BITFIELD count the same, and before the count runs over into
// the owner, the handle takes another slot.
func TestSlotNumbers(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01, noFront)
	slot := func() *slot { return f.shards[0].life.Load().slot.Load() }
	add := func(from, to int) {
		t.Helper()
		_, err := f.AddMany(bg, keysOf(from, to), nil)
		require.NoError(t, err)
	}
	add(0, 10)
	first := slot()
	owner := first.owner()
	require.Positive(t, owner)
	for i, batch := range []int{10, 1, 10, 1, 1} {
		add(100*i, 100*i+batch)
		require.Equal(t, owner<<32+int64(i+2), first.number.Load())
	}
	near := binary.BigEndian.AppendUint64(nil, uint64(owner<<32+maxCount-2))
	require.NoError(t, s.Client.SetRange(bg, "f", int64(first.at), string(near)).Err())
	add(600, 610)
	require.Same(t, first, slot())
	add(700, 701)
	require.Same(t, first, slot())
	require.Equal(t, owner<<32+int64(maxCount), first.number.Load())
	add(800, 801)
	require.NotSame(t, first, slot())
	require.NotEqual(t, owner, slot().owner())
	require.Equal(t, int64(1), slot().number.Load()&0xffffffff)
}

// TestScriptMasks: every distance of two words, and masks with every bit.
func TestScriptMasks(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 10_000, 0.01, noFront)
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	require.NoError(t, s.Client.SetRange(bg, "f", headerBytes, string(make([]byte, f.layout.bits))).Err())
	r := rand.New(rand.NewPCG(5, 6))
	model := make([]uint64, f.layout.bits/8)
	distances := make(map[uint64]int)
	for range 300 {
		p := &part{shard: f.shards[0], life: f.shards[0].life.Load()}
		answers := make([]bool, 40)
		want := make([]bool, len(answers))
		for i := range answers {
			block := r.Uint64N(f.layout.bits/64) * 8
			a := block + r.Uint64N(7)
			b := a + 1 + r.Uint64N(block+7-a)
			distances[b-a]++
			words := []word{{a, r.Uint64() & r.Uint64() & r.Uint64()}, {b, 1 << r.Uint64N(64)}}
			p.keys = append(p.keys, i)
			p.words = append(p.words, words...)
			p.ends = append(p.ends, len(p.words))
			for _, w := range words {
				want[i] = want[i] || model[w.index]&w.mask != w.mask
				model[w.index] |= w.mask
			}
		}
		f.prepare(bg, true, []*part{p})
		f.command(bg, true, p)
		require.NotNil(t, p.packed)
		require.NoError(t, f.send(bg, true, []*part{p}))
		if f.refused(p) {
			f.command(bg, true, p)
			require.NoError(t, f.send(bg, true, []*part{p}))
		}
		require.NoError(t, f.answer(bg, p, true, answers))
		require.Equal(t, want, answers)
	}
	require.Len(t, distances, 7)
	local, err := f.NewLocal()
	require.NoError(t, err)
	require.NoError(t, f.Pull(bg, local.Filters()...))
	for i := range model {
		require.Equal(t, model[i], local.Filters()[0].Words()[i].Load())
	}
}

// TestReopenUnderEviction: what is evicted as soon as it is made is lost, and no other filter.
func TestReopenUnderEviction(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	client := hooked(t, s, hook{after: func() { s.Client.FlushAll(bg) }})
	f.sender.Client = client
	s.Client.FlushAll(bg)
	_, err := f.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	err = f.Reopen(bg)
	require.ErrorIs(t, err, ErrLost)
	require.NotErrorIs(t, err, ErrMismatch)
	require.ErrorContains(t, err, "more memory")
}

// TestHealthyShardsGoOn: a shard that is lost does not keep the others from being asked and
// added to.
func TestHealthyShardsGoOn(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 5000, 1e-6, WithShards(4), noFront)
	_, err := f.AddMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	s.Client.Del(bg, f.Keys()[2])
	lost := func(i int) bool { return shardOf(f.appendPositions(nil, keyOf(i)), 4) == 2 }
	for try := range 3 {
		added := make([]bool, 3000)
		n, err := f.AddMany(bg, keysOf(0, 3000), added)
		require.ErrorIs(t, err, ErrLost)
		failed, ok := errors.AsType[*AddError](err)
		require.True(t, ok)
		require.Equal(t, try > 0, len(failed.Unknown) == 0, "once it is known, nothing is sent")
		require.Equal(t, count(added), n)
		for _, i := range append(failed.Unknown, failed.NotAdded...) {
			require.True(t, lost(i))
		}
		found := make([]bool, 3000)
		_, err = f.ContainsMany(bg, keysOf(0, 3000), found)
		require.ErrorIs(t, err, ErrLost)
		for i, yes := range found {
			require.Equal(t, !lost(i), yes)
			if i%97 == 0 {
				yes, err := f.Contains(bg, keyOf(i))
				require.Equal(t, lost(i), errors.Is(err, ErrLost))
				require.Equal(t, !lost(i), yes)
			}
		}
	}
}

// TestPullMemory: a pull allocates what it reads, and hardly more.
func TestPullMemory(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 10_000_000, 0.01)
	local, err := f.NewLocal()
	require.NoError(t, err)
	require.NoError(t, f.Pull(bg, local.Filters()...))
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := f.Pull(bg, local.Filters()...); err != nil {
				b.Fatal(err)
			}
		}
	})
	require.LessOrEqual(t, float64(result.AllocedBytesPerOp()), 1.1*float64(f.layout.bits))
}

// TestCounts: what is counted.
func TestCounts(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6)
	_, err := f.AddMany(bg, keysOf(0, 100), nil)
	require.NoError(t, err)
	before := f.Counts()
	net := func() int {
		var n int
		for _, line := range lines(s.Client.Info(bg, "stats").Val()) {
			fmt.Sscanf(line, "total_net_input_bytes:%d", &n)
		}
		return n
	}
	base := net()
	idle := net() - base
	sent := net()
	_, err = f.AddMany(bg, keysOf(50, 250), nil)
	require.NoError(t, err)
	_, err = f.Contains(bg, keyOf(300))
	require.NoError(t, err)
	sent = net() - sent - idle
	after := f.Counts()
	require.Equal(t, uint64(2), after.RoundTrips-before.RoundTrips)
	require.Equal(t, uint64(151), after.Keys-before.Keys)
	require.Equal(t, uint64(50), after.FrontHits-before.FrontHits)
	require.InEpsilon(t, sent, after.Bytes-before.Bytes, 0.05)

	s.Client.Del(bg, "f")
	for i := range 3 {
		_, err = f.Add(bg, keyOf(1000+i))
		require.Error(t, err)
	}
	require.Equal(t, uint64(1), f.Counts().Lost)
	require.Equal(t, uint64(1), f.Counts().Unknown)
}
