package redisfilter

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// restore puts an older value in place of a key, as a lagging replica or an older dump
// does.
func restore(t *testing.T, s *server, key, dump string) {
	t.Helper()
	require.NoError(t, s.Client.RestoreReplace(bg, key, 0, dump).Err())
}

// ways are those in which keys are added: by BITFIELD, one by one, by a script, and where
// scripts are not allowed.
var ways = map[string]struct {
	batch     int
	noScripts bool
	opts      []Option
}{
	"single":         {batch: 1},
	"script":         {batch: 20},
	"script 1 word":  {batch: 20, opts: []Option{WithBloom(bloom.WithStrategy(bloom.Blocked1))}},
	"without script": {batch: 20, noScripts: true},
	"4 words":        {batch: 20, opts: []Option{WithBloom(bloom.WithStrategy(bloom.Blocked4))}},
	"double hashing": {batch: 20, opts: []Option{WithBloom(bloom.WithStrategy(bloom.DoubleHashing))}},
	"shards":         {batch: 200, opts: []Option{WithShards(3)}},
	"keyed":          {batch: 20, opts: []Option{WithBloom(bloom.WithKey([16]byte{1}))}},
}

// TestRollbackIsNoticed lets the server go back to an older value and others add more than
// was lost. The first add and the first lookup of each handle that has added since then
// must be ErrLost, of whatever it adds or asks for.
func TestRollbackIsNoticed(t *testing.T) {
	s := startServer(t)
	for name, way := range ways {
		for _, first := range []string{"Add", "AddMany", "Contains", "ContainsMany", "Merge", "Pull", "Info", "Push"} {
			t.Run(name+" "+first, func(t *testing.T) {
				s.Client.FlushAll(bg)
				opts := append([]Option{noFront}, way.opts...)
				handle := func() *Filter {
					f := open(t, s.Client, "f", 20000, 1e-4, opts...)
					f.noScripts.Store(way.noScripts)
					return f
				}
				next := 0
				add := func(f *Filter, commands int) {
					for range commands {
						n, err := f.AddMany(bg, keysOf(next, next+way.batch), nil)
						require.NoError(t, err)
						require.Equal(t, way.batch, n)
						next += way.batch
					}
				}
				handles := []*Filter{handle(), handle(), handle()}
				for _, f := range handles {
					add(f, 3)
				}
				var dumps []string
				for _, key := range handles[0].Keys() {
					dumps = append(dumps, s.Client.Dump(bg, key).Val())
				}
				for _, f := range handles {
					add(f, 2)
				}
				for i, key := range handles[0].Keys() {
					restore(t, s, key, dumps[i])
				}
				fresh := handle()
				add(fresh, 20) // more than was lost, by somebody else
				for i, f := range handles {
					local, err := f.NewLocal()
					require.NoError(t, err)
					switch first {
					case "Add":
						_, err = f.Add(bg, keyOf(next+i))
					case "AddMany":
						_, err = f.AddMany(bg, keysOf(next+20*i, next+20*i+20), nil)
					case "Contains":
						_, err = f.Contains(bg, keyOf(next+i))
					case "ContainsMany":
						_, err = f.ContainsMany(bg, keysOf(next+20*i, next+20*i+20), nil)
					case "Merge":
						err = f.Merge(bg, local.Filters()...)
					case "Push":
						err = f.Push(bg, local.Filters()...)
					case "Pull":
						err = f.Pull(bg, local.Filters()...)
					case "Info":
						_, err = f.Info(bg)
					}
					require.ErrorIs(t, err, ErrLost)
					require.ErrorContains(t, err, "older value and forgotten at least 2")
					require.NoError(t, f.Reopen(bg))
				}
				next += 1000
				if len(fresh.shards) == 1 { // the other shards of handles[0] have not been asked yet
					add(handles[0], 1)
				}
				add(fresh, 1)
				_, err := fresh.ContainsMany(bg, keysOf(0, 100), nil)
				require.NoError(t, err, "a handle that began after it has lost nothing")
			})
		}
	}
}

// TestOneLostAddIsNoticed: the least that there can be, by the same command as the next.
func TestOneLostAddIsNoticed(t *testing.T) {
	s := startServer(t)
	for name, way := range ways {
		f := open(t, s.Client, name, 20000, 1e-4, append([]Option{noFront}, way.opts...)...)
		f.noScripts.Store(way.noScripts)
		for i := range 3 {
			dump := ""
			if i == 2 {
				dump = s.Client.Dump(bg, name).Val()
			}
			_, err := f.AddMany(bg, keysOf(i*200, i*200+200), nil)
			require.NoError(t, err)
			if i == 2 {
				restore(t, s, name, dump)
			}
		}
		added := make([]bool, 200)
		_, err := f.AddMany(bg, keysOf(400, 600), added)
		require.ErrorIs(t, err, ErrLost, name)
		if len(f.shards) == 1 {
			require.Zero(t, count(added), "no answers")
		}
	}
}

// TestRollbackBeforeTheSlot: the server goes back to before the handle had a slot, and
// others take the same one and add more.
func TestRollbackBeforeTheSlot(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-4, noFront)
	dump := s.Client.Dump(bg, "f").Val()
	_, err := f.AddMany(bg, keysOf(0, 100), nil)
	require.NoError(t, err)
	restore(t, s, "f", dump)
	for i := range 2 * f.layout.slots {
		g := open(t, s.Client, "f", 1000, 1e-4, noFront)
		for j := range 5 {
			_, err := g.Add(bg, keyOf(1000+10*i+j))
			require.NoError(t, err)
		}
	}
	_, err = f.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
}

// TestCutShort: a value that ends too early behind an intact header is noticed by every
// handle, also by one that has only asked; and the next Open makes it anew.
func TestCutShort(t *testing.T) {
	s := startServer(t)
	for name, opts := range map[string][]Option{
		"words": {noFront}, "bits": {noFront, WithBloom(bloom.WithStrategy(bloom.DoubleHashing))},
	} {
		f := open(t, s.Client, name, 20000, 1e-2, opts...)
		_, err := f.AddMany(bg, keysOf(0, 5000), nil)
		require.NoError(t, err)
		whole := s.Client.Get(bg, name).Val()
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 48 {
			length := len(whole) - 1 - i
			if i >= 20 {
				length = headerBytes + r.IntN(len(whole)-headerBytes)
			}
			require.NoError(t, s.Client.Set(bg, name, whole, 0).Err())
			require.NoError(t, f.Reopen(bg))
			writer := open(t, s.Client, name, 20000, 1e-2, opts...)
			_, err := writer.Add(bg, keyOf(0))
			require.NoError(t, err)
			if i >= 40 { // within the writer's own slot
				length = int(writer.shards[0].life.Load().slot.Load().at) + i - 40
			}
			reader := open(t, s.Client, name, 20000, 1e-2, opts...)
			cut := s.Client.Get(bg, name).Val()[:length]
			calls := map[string]func() error{
				"Contains":        func() error { _, err := reader.Contains(bg, keyOf(1)); return err },
				"ContainsMany":    func() error { _, err := reader.ContainsMany(bg, keysOf(0, 9), nil); return err },
				"first Add":       func() error { _, err := reader.Add(bg, keyOf(1)); return err },
				"Add":             func() error { _, err := writer.Add(bg, keyOf(1)); return err },
				"AddMany":         func() error { _, err := writer.AddMany(bg, keysOf(0, 9), nil); return err },
				"writer Contains": func() error { _, err := writer.Contains(bg, keyOf(1)); return err },
				"Info":            func() error { _, err := reader.Info(bg); return err },
				"Pull": func() error {
					local, err := reader.NewLocal()
					require.NoError(t, err)
					return reader.Pull(bg, local.Filters()...)
				},
			}
			for call, do := range calls {
				if call == "Add" || call == "AddMany" || call == "writer Contains" {
					// The slot is near the end: a value that has it still has all bits.
					if uint64(length) >= writer.shards[0].life.Load().slot.Load().at+8 {
						continue
					}
				}
				require.NoError(t, s.Client.Set(bg, name, cut, 0).Err())
				for _, f := range []*Filter{reader, writer} {
					f.shards[0].life.Load().lost.Store(false)
				}
				require.ErrorIs(t, do(), ErrLost, "%s: %s of %d bytes of %d", name, call, length, len(whole))
			}
			require.NoError(t, s.Client.Set(bg, name, cut, 0).Err())
			g := open(t, s.Client, name, 20000, 1e-2, opts...)
			require.Equal(t, int64(len(whole)), s.Client.StrLen(bg, name).Val())
			n, err := g.ContainsMany(bg, keysOf(0, 5000), nil)
			require.NoError(t, err)
			require.Zero(t, n)
			_, err = writer.Contains(bg, keyOf(0))
			require.ErrorIs(t, err, ErrLost)
		}
	}
}

// TestLaggingReplicaPromoted cuts the replica off without closing the link, loses the
// primary and goes on with the replica: every handle with a confirmed add that is gone
// must be told by its next command.
func TestLaggingReplicaPromoted(t *testing.T) {
	primary := startServer(t, "--repl-diskless-sync-delay", "0")
	link := startProxy(t, primary.Addr)
	replica := startServer(t, "--replicaof", "127.0.0.1 "+link.Addr[len("127.0.0.1:"):])
	awaitReplica(t, primary)
	front := startProxy(t, primary.Addr) // what the clients know
	client := redis.NewClient(&redis.Options{Addr: front.Addr, MinRetryBackoff: -1})
	defer client.Close()
	const handles = 4
	var filters []*Filter
	var keys [handles][][]byte
	for h := range handles {
		filters = append(filters, open(t, client, "f", 100_000, 1e-9, noFront))
		for i := range 200 {
			key := keyOf(h*10000 + i)
			added, err := filters[h].Add(bg, key)
			require.NoError(t, err)
			require.True(t, added)
			keys[h] = append(keys[h], key)
		}
	}
	eventually(t, "the replica has it all", func() error {
		conn := primary.Client.Conn()
		defer conn.Close()
		if err := conn.Set(bg, "x", 1, 0).Err(); err != nil {
			return err
		}
		if n, err := conn.Wait(bg, 1, time.Second).Result(); err != nil || n != 1 {
			return fmt.Errorf("%d, %w", n, err)
		}
		return nil
	})
	link.Silent.Lock()
	for h := range handles - 1 { // the last one loses nothing
		for i := 200; i < 250; i++ {
			key := keyOf(h*10000 + i)
			added, err := filters[h].Add(bg, key)
			require.NoError(t, err)
			require.True(t, added)
			keys[h] = append(keys[h], key)
		}
	}
	primary.Kill()
	require.NoError(t, replica.Client.ReplicaOf(bg, "NO", "ONE").Err())
	link.Silent.Unlock()
	front.Retarget(replica.Addr)
	others := open(t, replica.Client, "f", 100_000, 1e-9, noFront)
	for i := range 300 {
		_, err := others.Add(bg, keyOf(900_000+i))
		require.NoError(t, err)
	}
	var silent, told atomic.Int32
	for h, f := range filters {
		found, err := askEach(bg, f, keys[h])
		lost := errors.Is(err, ErrLost)
		switch {
		case lost:
			told.Add(1)
		case err != nil:
			t.Fatal(err)
		case count(found) < len(keys[h]):
			silent.Add(int32(len(keys[h]) - count(found)))
		}
		require.Equal(t, h < handles-1, lost, "handle %d", h)
	}
	require.Zero(t, silent.Load(), "silent losses")
	require.Equal(t, int32(handles-1), told.Load())
}

// TestLogLosesItsEnd kills the server and takes away the end of its append-only file, as a loss of
// power does with appendfsync everysec. Whatever is left: each handle that has lost an add is
// told, the others are not.
func TestLogLosesItsEnd(t *testing.T) {
	s := startServer(t, "--appendonly", "yes", "--appendfsync", "always")
	for _, part := range []float64{0.999, 0.9, 0.5, 0.1} {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		var handles []*Filter
		keys := make([][][]byte, 6)
		for range keys {
			handles = append(handles, open(t, s.Client, "f", 20000, 1e-9, noFront))
		}
		for i := range 60 { // the later ones go on for longer
			for h, f := range handles {
				if i >= 10*(h+1) {
					continue
				}
				key := keyOf(h*1000 + i)
				added, err := f.Add(bg, key)
				require.NoError(t, err)
				require.True(t, added)
				keys[h] = append(keys[h], key)
			}
		}
		s.Kill()
		logs, err := filepath.Glob(filepath.Join(s.Dir, "appendonlydir", "*.incr.aof"))
		require.NoError(t, err)
		require.Len(t, logs, 1)
		info, err := os.Stat(logs[0])
		require.NoError(t, err)
		// The file begins with what earlier rounds have written.
		flush := bytes.LastIndex(must(os.ReadFile(logs[0])), []byte("flushall"))
		require.Positive(t, flush)
		keep := int64(flush) + 20 + int64(part*float64(info.Size()-int64(flush)-20))
		require.NoError(t, os.Truncate(logs[0], keep))
		s.Start(t)
		reader, err := Join(bg, s.Client, "f", noFront)
		require.NoError(t, err)
		silent, told := 0, 0
		for h, f := range handles {
			found, err := askEach(bg, reader, keys[h])
			require.NoError(t, err)
			lost := len(keys[h]) - count(found)
			_, err = f.Contains(bg, keys[h][0])
			switch {
			case lost > 0 && errors.Is(err, ErrLost):
				told++
			case lost > 0:
				silent++
			default:
				require.NoError(t, err)
			}
		}
		t.Logf("%v of the log kept: %d handles have lost adds and were told, %d were not", part, told, silent)
		require.Zero(t, silent)
		require.Positive(t, told)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
