package growing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestCutReplies cuts each fifth reply, through the opening of several layers: a key is new for one
// caller, or its add is unknown; and none is lost.
func TestCutReplies(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, MinRetryBackoff: -1})
	defer client.Close()
	f := open(t, client, 1024, 1e-9)
	p.CutEvery.Store(5)
	const keys = 8000
	unknown := 0
	for i := 0; i < keys; i += 50 {
		added := make([]bool, 50)
		n, err := f.AddMany(bg, keysOf(i, i+50), added)
		require.Equal(t, redistest.Count(added), n)
		if err == nil {
			require.Equal(t, 50, n)
			continue
		}
		failed, ok := errors.AsType[*redisfilter.AddError](err)
		require.True(t, ok, err)
		answered := 50 - len(failed.Unknown) - len(failed.NotAdded)
		require.Equal(t, answered, n, "each key with an answer is new: %v", err)
		unknown += len(failed.Unknown)
		require.Equal(t, len(failed.Unknown) > 0, errors.Is(err, redisfilter.ErrUnknown))
		for _, j := range failed.NotAdded { // they can be added again, and are new then
			redistest.Eventually(t, "an add is answered", func() error {
				added, err := f.Add(bg, keyOf(i+j))
				if errors.Is(err, redisfilter.ErrUnknown) {
					unknown++
					return nil
				}
				if err == nil {
					require.True(t, added)
				}
				return err
			})
		}
	}
	t.Logf("%d replies cut, %d keys of %d unknown", p.Cuts.Load(), unknown, keys)
	require.Greater(t, p.Cuts.Load(), int64(20))
	require.Positive(t, unknown)
	require.EqualValues(t, unknown, f.Counts().Unknown)
	p.CutEvery.Store(0)
	// The server has executed all that it was sent.
	found, err := f.ContainsMany(bg, keysOf(0, keys), nil)
	require.NoError(t, err)
	require.Equal(t, keys, found)
	require.EqualValues(t, 4, f.life.Load().layers.Load())
}

// TestEveryCut lets a process die after each command of each operation, with a filter of one full
// layer. The next process finds what was confirmed, and can do the operation.
func TestEveryCut(t *testing.T) {
	s := redistest.Start(t)
	const n, p = 1024, 1e-9
	for name, op := range map[string]struct {
		arrange func()
		do      func(f *Filter) error
		gone    bool // the operation gives up what was there
	}{
		"open":   {func() { s.Client.Del(bg, "g") }, func(f *Filter) error { _, err := Open(bg, f.key.Sender.Client, "g", n, p); return err }, true},
		"join":   {nil, func(f *Filter) error { _, err := Join(bg, f.key.Sender.Client, "g"); return err }, false},
		"grow":   {nil, func(f *Filter) error { _, err := f.AddMany(bg, keysOf(n, n+50), nil); return err }, false},
		"reopen": {func() { s.Client.Del(bg, "g") }, func(f *Filter) error { f.ContainsString(bg, "a"); return f.Reopen(bg) }, true},
		"reopen over a cut value": {func() {
			value := s.Client.Get(bg, "g").Val()
			s.Client.Set(bg, "g", value[:len(value)-1], 0)
		}, func(f *Filter) error { f.ContainsString(bg, "a"); return f.Reopen(bg) }, true},
		"delete": {nil, func(f *Filter) error { return f.Delete(bg) }, true},
	} {
		cuts := 0
		for done := false; !done; cuts++ {
			require.Less(t, cuts, 100)
			require.NoError(t, s.Client.FlushAll(bg).Err())
			require.NoError(t, s.Client.ScriptFlush(bg).Err())
			f := open(t, s.Client, n, p)
			count, err := f.AddMany(bg, keysOf(0, n), nil)
			require.NoError(t, err)
			require.Equal(t, n, count)
			if op.arrange != nil {
				op.arrange()
			}
			dying := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
			dying.AddHook(&redistest.Cut{Left: cuts})
			f.key.Sender.Client = dying
			err = op.do(f)
			done = err == nil
			dying.Close()

			g := open(t, s.Client, n, p)
			old, err := g.ContainsMany(bg, keysOf(0, n), nil)
			require.NoError(t, err)
			if op.gone {
				require.Contains(t, []int{0, n}, old, "all or nothing")
			} else {
				require.Equal(t, n, old)
			}
			again, err := g.AddMany(bg, keysOf(n, n+50), nil)
			require.NoError(t, err)
			if name == "grow" {
				require.Contains(t, []int{0, 50}, again, "the batch is in as a whole, or not")
			} else {
				require.Equal(t, 50, again)
			}
			info, err := g.Info(bg)
			require.NoError(t, err)
			require.EqualValues(t, old+50, info.EstimatedCount)
			require.EqualValues(t, s.Client.StrLen(bg, "g").Val(), info.SizeBytes)
			require.NoError(t, op.do(g))
		}
		t.Logf("%s: %d cuts", name, cuts)
		require.GreaterOrEqual(t, cuts, 2)
	}
}

// TestLost: whatever happens to the key, the next call of each handle is told, those which
// have added and those which have only asked; and nothing is changed.
func TestLost(t *testing.T) {
	s := redistest.Start(t)
	value := func() string { return s.Client.Get(bg, "g").Val() }
	for name, lose := range map[string]func(f *Filter){
		"deleted":       func(*Filter) { s.Client.Del(bg, "g") },
		"by us":         func(f *Filter) { require.NoError(t, f.Delete(bg)) },
		"else":          func(*Filter) { s.Client.Set(bg, "g", "something else", 0) },
		"made anew":     func(f *Filter) { s.Client.Del(bg, "g"); open(t, s.Client, 1024, 1e-6) },
		"cut by 1":      func(f *Filter) { s.Client.Set(bg, "g", value()[:f.SizeBytes()-1], 0) },
		"the last gone": func(f *Filter) { s.Client.Set(bg, "g", value()[:(*f.planned.Load())[0].length()], 0) },
		"slots only":    func(f *Filter) { s.Client.Set(bg, "g", value()[:slotsAt+slots*slotBytes], 0) },
		"cut in slots":  func(f *Filter) { s.Client.Set(bg, "g", value()[:slotsAt+100], 0) },
	} {
		for call, do := range map[string]func(f *Filter) error{
			"Add":      func(f *Filter) error { _, err := f.AddString(bg, "b"); return err },
			"Contains": func(f *Filter) error { _, err := f.ContainsString(bg, "b"); return err },
			"Stats":    func(f *Filter) error { _, err := f.Stats(bg); return err },
		} {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			adder := open(t, s.Client, 1024, 1e-6)
			_, err := adder.AddMany(bg, keysOf(0, 1100), nil) // two layers
			require.NoError(t, err)
			asker := open(t, s.Client, 1024, 1e-6)
			lose(adder)
			after := value()
			for _, f := range []*Filter{adder, asker} {
				err := do(f)
				require.ErrorIs(t, err, redisfilter.ErrLost, "%s, %s", name, call)
				require.NotErrorIs(t, err, redisfilter.ErrUnknown)
				require.ErrorIs(t, do(f), redisfilter.ErrLost, "and until Reopen")
			}
			same := func(v string) string { // an asker takes a slot before its first add finds that the end is missing
				return v[:min(len(v), slotsAt)] + v[min(len(v), slotsAt+slots*slotBytes):]
			}
			require.True(t, same(after) == same(value()), "%s, %s: nothing is changed", name, call)
			require.EqualValues(t, 1, asker.Counts().Lost)
			if name == "else" {
				require.ErrorIs(t, adder.Reopen(bg), redisfilter.ErrMismatch)
				continue
			}
			require.NoError(t, adder.Reopen(bg), name)
			require.NoError(t, asker.Reopen(bg))
			for _, f := range []*Filter{adder, asker} {
				_, err := f.AddString(bg, fmt.Sprint(f == adder))
				require.NoError(t, err)
			}
		}
	}
}

// TestRollback has the server go back to an older value, and others add more than was lost.
func TestRollback(t *testing.T) {
	s := redistest.Start(t)
	for _, ask := range []bool{false, true} {
		for _, before := range []int{0, 1, 1024} { // adds of the handle that the older value has
			require.NoError(t, s.Client.FlushAll(bg).Err())
			f, other := open(t, s.Client, 1024, 1e-6), open(t, s.Client, 1024, 1e-6)
			_, err := f.AddMany(bg, keysOf(0, before), nil)
			require.NoError(t, err)
			older := s.Client.Dump(bg, "g").Val()
			_, err = f.AddString(bg, "lost")
			require.NoError(t, err)
			require.NoError(t, s.Client.RestoreReplace(bg, "g", 0, older).Err())
			for i := range 5 {
				_, err := other.AddMany(bg, keysOf(2000+i*1000, 3000+i*1000), nil)
				require.NoError(t, err, "it has lost nothing")
			}
			if ask {
				_, err = f.ContainsString(bg, "lost")
			} else {
				_, err = f.AddString(bg, "new")
			}
			require.ErrorIs(t, err, redisfilter.ErrLost)
			require.NotErrorIs(t, err, redisfilter.ErrUnknown)
			require.NoError(t, f.Reopen(bg))
			added, err := f.AddString(bg, "lost")
			require.NoError(t, err)
			require.True(t, added)
		}
	}
	// A handle that has only asked sees that there are fewer layers.
	require.NoError(t, s.Client.FlushAll(bg).Err())
	f, asker := open(t, s.Client, 1024, 1e-6), open(t, s.Client, 1024, 1e-6)
	older := s.Client.Dump(bg, "g").Val()
	_, err := f.AddMany(bg, keysOf(0, 1025), nil)
	require.NoError(t, err)
	_, err = asker.ContainsString(bg, "a")
	require.NoError(t, err)
	require.NoError(t, s.Client.RestoreReplace(bg, "g", 0, older).Err())
	_, err = asker.ContainsString(bg, "a")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	// So does its first add, also if there is one less.
	asker, late := open(t, s.Client, 1024, 1e-6), open(t, s.Client, 1024, 1e-6)
	_, err = asker.AddMany(bg, keysOf(0, 1025), nil)
	require.NoError(t, err)
	_, err = late.ContainsString(bg, "a")
	require.NoError(t, err)
	require.NoError(t, s.Client.RestoreReplace(bg, "g", 0, older).Err())
	_, err = late.AddString(bg, "a")
	require.ErrorIs(t, err, redisfilter.ErrLost)
}

// TestRollbackWhileOpening: the server goes back to a value of fewer layers, which is shorter, between
// the commands of Open: that value is whole, and is joined as it is.
func TestRollbackWhileOpening(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 1e-6)
	_, err := f.AddMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	older := s.Client.Dump(bg, "g").Val()
	_, err = f.AddMany(bg, keysOf(1000, 2000), nil) // the second layer
	require.NoError(t, err)
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	restored := false
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		err := send()
		if !restored && cmds[0].Name() == "getrange" { // the first command that reads the newer value
			restored = true
			require.NoError(t, s.Client.RestoreReplace(bg, "g", 0, older).Err())
		}
		return err
	}))
	g := open(t, client, 1024, 1e-6)
	n, err := g.ContainsMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.EqualValues(t, 1, g.life.Load().layers.Load())
}

// TestSlots: more handles than slots. The one that has lost its slot is told.
func TestSlots(t *testing.T) {
	s := redistest.Start(t)
	first := open(t, s.Client, 1024, 1e-6)
	for i := range slots + 1 {
		f := first
		if i > 0 {
			f = open(t, s.Client, 1024, 1e-6)
		}
		added, err := f.AddString(bg, fmt.Sprint(i))
		require.NoError(t, err)
		require.True(t, added)
	}
	info, err := open(t, s.Client, 1024, 1e-6).Info(bg)
	require.NoError(t, err)
	require.Equal(t, slots, info.Handles)
	_, err = first.ContainsString(bg, "first")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.NoError(t, first.Reopen(bg))
	added, err := first.AddString(bg, "0")
	require.NoError(t, err)
	require.False(t, added)
}

// TestScripts: a server that forgets them, that has no memory, and that refuses them.
func TestScripts(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 1e-6)
	for i := range 3 {
		require.NoError(t, s.Client.ScriptFlush(bg).Err())
		added, err := f.Add(bg, keyOf(i))
		require.NoError(t, err)
		require.True(t, added)
	}
	_, err := f.AddMany(bg, keysOf(3, 1024), nil) // full
	require.NoError(t, err)
	refused := func(text string) {
		t.Helper()
		before := s.Client.Get(bg, "g").Val()
		_, err := f.AddMany(bg, keysOf(2000, 2010), nil)
		require.ErrorContains(t, err, text)
		require.NotErrorIs(t, err, redisfilter.ErrUnknown)
		require.NotErrorIs(t, err, redisfilter.ErrLost)
		require.True(t, before == s.Client.Get(bg, "g").Val(), "nothing is changed")
		n, err := f.ContainsMany(bg, keysOf(0, 1024), nil)
		require.NoError(t, err, "asking needs neither memory nor scripts")
		require.Equal(t, 1024, n)
	}
	require.NoError(t, s.Client.ConfigSet(bg, "maxmemory", "100kb").Err())
	refused("maxmemory")
	require.NoError(t, s.Client.ConfigSet(bg, "maxmemory", "0").Err())
	// A server that has shorter strings than we plan for: at least 1 MiB.
	require.NoError(t, s.Client.ConfigSet(bg, "proto-max-bulk-len", "1mb").Err())
	large, err := Open(bg, s.Client, "large", 400_000, 1e-2)
	require.NoError(t, err)
	_, err = large.AddMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	require.NoError(t, s.Client.SetRange(bg, "large", leftAt, strings.Repeat("\x00", 8)).Err()) // as if full
	_, err = large.AddMany(bg, keysOf(5000, 6000), nil)
	require.ErrorContains(t, err, "exceeds maximum allowed size")
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	n, err := large.ContainsMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)

	require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "default", "-@scripting").Err())
	refused("ACL must allow")
	_, err = Open(bg, s.Client, "other", 1024, 1e-6)
	require.ErrorContains(t, err, "EVALSHA")
	require.Zero(t, s.Client.Exists(bg, "other").Val())
	_, err = Join(bg, s.Client, "g")
	require.NoError(t, err)
}

// TestCommandsOfAUser: a user that may execute what the error names, and nothing else, can do everything.
func TestCommandsOfAUser(t *testing.T) {
	s := redistest.Start(t)
	names := strings.Split(strings.ReplaceAll(commands, " and ", ", "), ", ")
	everything := func(allowed []string) error {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		args := []any{"ACL", "SETUSER", "u", "reset", "on", ">secret", "~g"}
		for _, name := range allowed {
			args = append(args, "+"+strings.ToLower(name))
		}
		require.NoError(t, s.Client.Do(bg, args...).Err())
		client := redis.NewClient(&redis.Options{Addr: s.Addr, Username: "u", Password: "secret"})
		defer client.Close()
		f, err := Open(bg, client, "g", 1024, 1e-6, WithTTL(time.Hour))
		if err != nil {
			return err
		}
		_, addErr := f.AddMany(bg, keysOf(0, 2000), nil)
		_, askErr := f.ContainsMany(bg, keysOf(0, 2000), nil)
		_, infoErr := f.Info(bg)
		return errors.Join(addErr, askErr, infoErr, f.Delete(bg))
	}
	require.NoError(t, everything(names))
	for i, name := range names {
		if name == "EVAL" { // the server knows the scripts by now
			require.NoError(t, s.Client.ScriptFlush(bg).Err())
		}
		without := append(append([]string{}, names[:i]...), names[i+1:]...)
		require.Error(t, everything(without), "without %s", name)
	}
}

// TestContexts: a call ends with its context, and does not add before it began.
func TestContexts(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr})
	defer client.Close()
	f := open(t, client, 1024, 1e-6)
	ended, cancel := context.WithCancel(bg)
	cancel()
	_, err := f.AddString(ended, "a")
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	_, err = f.ContainsString(ended, "a")
	require.ErrorIs(t, err, context.Canceled)
	added, err := f.AddString(bg, "a")
	require.NoError(t, err)
	require.True(t, added)

	p.Silent.Lock() // nothing comes back
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	_, err = f.AddString(ctx, "b")
	p.Silent.Unlock()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, redisfilter.ErrUnknown)
}

// TestEviction lets other keys push the filter out.
func TestEviction(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-random")
	f := open(t, s.Client, 10_000, 0.01)
	_, err := f.AddMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	redistest.Evict(t, s.Client, "g")
	_, err = f.ContainsMany(bg, keysOf(0, 1000), nil)
	require.ErrorIs(t, err, redisfilter.ErrLost)
	_, err = f.AddString(bg, "a")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	require.Zero(t, s.Client.Exists(bg, "g").Val(), "no orphan")
}

// TestReplica: WithWait, and a replica that lacks the last layer takes over.
func TestReplica(t *testing.T) {
	primary := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	replica := redistest.Start(t, "--replicaof", "127.0.0.1 "+fmt.Sprint(primary.Port))
	redistest.AwaitReplica(t, primary)
	f := open(t, primary.Client, 1024, 1e-6, WithWait(1, 2*time.Second))
	n, err := f.AddMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.NoError(t, replica.Client.ReplicaOf(bg, "NO", "ONE").Err())
	added := make([]bool, 100)
	f.key.Sender.Timeout = 20 * time.Millisecond
	n, err = f.AddMany(bg, keysOf(1000, 1100), added)
	require.ErrorIs(t, err, redisfilter.ErrReplicas)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok)
	require.Equal(t, redistest.Indices(0, 100), failed.Unconfirmed)
	require.Equal(t, 100, n)
	require.Equal(t, 100, redistest.Count(added))
	primary.Kill()
	f.key.Sender.Client, f.key.Sender.Replicas = replica.Client, 0
	_, err = f.ContainsMany(bg, keysOf(0, 100), nil)
	require.ErrorIs(t, err, redisfilter.ErrLost, "the last add is not there")
	require.NoError(t, f.Reopen(bg))
	n, err = f.ContainsMany(bg, keysOf(0, 1000), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
}

// TestCluster: the filter is in one slot, on whichever node that is, and follows when the slot is
// moved, while it grows.
func TestCluster(t *testing.T) {
	nodes, client := redistest.StartCluster(t)
	for i, name := range []string{"a", "b", "c", "{tag}d", "e{", "f g"} {
		f, err := Open(bg, client, name, 1024, 1e-9)
		require.NoError(t, err)
		n, err := f.AddMany(bg, keysOf(0, 1000), nil)
		require.NoError(t, err)
		require.Equal(t, 1000, n)
		end := func() {}
		if i < 3 {
			end = redistest.Hold(t, nodes, name, i > 0)
		}
		n, err = f.AddMany(bg, keysOf(500, 2000), nil)
		require.NoError(t, err)
		require.Equal(t, 1000, n)
		n, err = f.ContainsMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		require.Equal(t, 2000, n)
		end()
		n, err = f.AddMany(bg, keysOf(1000, 4000), nil)
		require.NoError(t, err)
		require.Equal(t, 2000, n)
		n, err = f.ContainsMany(bg, keysOf(0, 5000), nil)
		require.NoError(t, err)
		require.Equal(t, 4000, n)
		require.EqualValues(t, 3, f.life.Load().layers.Load())
		require.NoError(t, f.Delete(bg))
	}
}

// TestHostileValues: numbers and bytes in the value that no script has written. Nothing panics,
// goes on for ever or takes memory; a filter of such a value is refused or lost.
func TestHostileValues(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 1e-6)
	_, err := f.AddMany(bg, keysOf(0, 1100), nil)
	require.NoError(t, err)
	value := s.Client.Get(bg, "g").Val()
	use := func(what string, forged []byte) (opened, used error) {
		require.NoError(t, s.Client.Set(bg, "g", forged, 0).Err())
		g, opened := Open(bg, s.Client, "g", 1024, 1e-6)
		_, _ = Join(bg, s.Client, "g")
		if opened == nil {
			_, _ = g.AddMany(bg, keysOf(5000, 5100), nil)
			_, _ = g.ContainsMany(bg, keysOf(0, 100), nil)
			_, _ = g.Info(bg)
		}
		// A handle that was open before.
		require.NoError(t, s.Client.Set(bg, "g", forged, 0).Err())
		forget := func() {
			l := &life{Life: onekey.NewLife(f.life.Load().Epoch)}
			l.Owner = f.life.Load().Owner
			l.layers.Store(2)
			f.life.Store(l)
		}
		forget()
		_, askErr := f.ContainsMany(bg, keysOf(0, 100), nil)
		_, infoErr := f.Info(bg)
		forget()
		_, addErr := f.AddMany(bg, keysOf(6000, 6100), nil)
		return opened, errors.Join(askErr, infoErr, addErr)
	}
	forge := func(at int, x float64) []byte {
		b := []byte(value)
		binary.LittleEndian.PutUint64(b[at:], math.Float64bits(x))
		return b
	}
	for _, x := range []float64{0, -1, 0.5, 1.5, 3, 12, 31, 32, 33, 1e18, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		opened, used := use(fmt.Sprint("layers ", x), forge(layersAt, x))
		t.Logf("%v layers: %v; %v", x, opened, used)
		require.Error(t, used)
		if x == 3 || x == 12 { // cut short: made anew
			require.NoError(t, opened)
		} else {
			require.Error(t, opened)
		}
	}
	for _, x := range []float64{-1, 0.5, 2049, 1e18, math.Inf(1), math.NaN()} {
		opened, _ := use(fmt.Sprint("left ", x), forge(leftAt, x))
		require.ErrorIs(t, opened, redisfilter.ErrMismatch)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b := []byte(value)
		for range 1 + random.IntN(4) {
			b[random.IntN(slotsAt+slotBytes*2)] = byte(random.Uint32())
		}
		if random.IntN(4) == 0 {
			b = b[:random.IntN(len(b)+1)]
		}
		use("random bytes", b)
	}
}
