package stores

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
)

var long = flag.Bool("long", false, "a million keys in each store instead of 20,000")

func keyOf(i int) []byte {
	return binary.LittleEndian.AppendUint64([]byte("user/"), uint64(i)*0x9e3779b97f4a7c15)
}

// putAll puts the keys from one number to another through a guard.
func putAll(t *testing.T, g *guard.Guard, s Store, from, to int) {
	t.Helper()
	for from < to {
		var keys [][]byte
		for ; from < to && len(keys) < 10_000; from++ {
			keys = append(keys, keyOf(from))
		}
		require.NoError(t, g.Put(func() error { return s.Put(keys, keys) }, keys...))
	}
}

// TestLife takes each store through all of it: filled, opened, asked, saved, put to,
// opened again, deleted from, rebuilt.
func TestLife(t *testing.T) {
	n := 20_000
	if *long {
		n = 1_000_000
	}
	for name := range Open {
		t.Run(name, func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			file := filepath.Join(dir, "guard")
			s, err := Open[name](filepath.Join(dir, "store"))
			require.NoError(t, err)
			g, err := guard.New(file, uint64(n), 0.01, s)
			require.NoError(t, err)
			putAll(t, g, s, 0, n/2)
			require.NoError(t, g.Open(ctx))
			require.EqualValues(t, n/2, g.Counts().Scanned)
			putAll(t, g, s, n/2, n)
			look := func(from, to int) (found int) {
				t.Helper()
				for i := from; i < to; i++ {
					value, ok, err := guard.Get(ctx, g, keyOf(i), s.Get)
					require.NoError(t, err)
					if ok {
						require.Equal(t, keyOf(i), value)
						found++
					}
				}
				return found
			}
			require.Equal(t, n, look(0, n), "false noes")
			require.Zero(t, look(n, 2*n))
			require.InDelta(t, 0.01, g.Counts().FalsePositiveRate(), 0.005) // 7 σ, of fixed keys

			// Saved, put to, closed, opened: only what came since is listed.
			position, err := g.Save(ctx)
			require.NoError(t, err)
			require.NoError(t, s.Forget(position))
			putAll(t, g, s, n, n+n/100)
			require.NoError(t, s.Delete(keyOf(0)))
			require.NoError(t, s.Close())
			s, err = Open[name](filepath.Join(dir, "store"))
			require.NoError(t, err)
			g, err = guard.New(file, uint64(n), 0.01, s)
			require.NoError(t, err)
			require.NoError(t, g.Open(ctx))
			require.EqualValues(t, n/100, g.Counts().Scanned)
			require.Equal(t, n+n/100-1, look(0, n+n/100), "false noes")

			// Deleted keys are asked for in vain, until a rebuild.
			var gone [][]byte
			for i := 1; i < n/100; i++ {
				gone = append(gone, keyOf(i))
			}
			require.NoError(t, s.Delete(gone...))
			before := g.Counts()
			require.Zero(t, look(1, n/100))
			require.Equal(t, before.Spared, g.Counts().Spared)
			require.NoError(t, g.Rebuild(ctx, uint64(2*n), 0.01))
			require.EqualValues(t, n, g.Counts().Scanned)
			before = g.Counts()
			require.Zero(t, look(1, n/100))
			require.Greater(t, g.Counts().Spared-before.Spared, uint64(n/100)*9/10)
			require.Equal(t, n, look(0, n+n/100), "false noes")
			require.NoError(t, s.Close())
		})
	}
}

// TestKeysSince: what is listed for each position, also for those that the log does not
// reach back to, and for one that the store has not come to.
func TestKeysSince(t *testing.T) {
	for name := range Open {
		t.Run(name, func(t *testing.T) {
			s, err := Open[name](t.TempDir())
			require.NoError(t, err)
			defer s.Close()
			list := func(since []byte) (keys []string) {
				t.Helper()
				for key, err := range s.Keys(t.Context(), since) {
					require.NoError(t, err)
					keys = append(keys, string(key))
				}
				return keys
			}
			require.Empty(t, list(nil))
			var positions [][]byte
			for i := range 4 {
				position, err := s.Position(t.Context())
				require.NoError(t, err)
				positions = append(positions, position)
				key := [][]byte{[]byte(fmt.Sprint(i))}
				require.NoError(t, s.Put(key, key))
			}
			for i, position := range positions {
				require.Equal(t, []string{"0", "1", "2", "3"}[i:], list(position))
			}
			now, err := s.Position(t.Context())
			require.NoError(t, err)
			require.Empty(t, list(now))
			all := []string{"0", "1", "2", "3"}
			require.Equal(t, all, list(encode(decode(now)+1)), "the store is an old copy")
			require.NoError(t, s.Forget(positions[2]))
			require.Equal(t, []string{"2", "3"}, list(positions[2]))
			require.Equal(t, []string{"3"}, list(positions[3]))
			require.Equal(t, all, list(positions[1]))
			require.NoError(t, s.Forget(now))
			require.Empty(t, list(now))
			require.Equal(t, all, list(positions[3]))
			require.NoError(t, s.Delete([]byte("1"), []byte("7")))
			require.Equal(t, []string{"0", "2", "3"}, list(nil))
			for range list(nil) { // whoever stops early leaves nothing open
				for range s.Keys(t.Context(), nil) {
					break
				}
			}
		})
	}
}

// TestForgottenMeanwhile: what is forgotten while the log is listed is listed all the same.
func TestForgottenMeanwhile(t *testing.T) {
	const n = 10_000 // some batches of bbolt
	for name := range Open {
		t.Run(name, func(t *testing.T) {
			s, err := Open[name](t.TempDir())
			require.NoError(t, err)
			defer s.Close()
			since, err := s.Position(t.Context())
			require.NoError(t, err)
			var keys [][]byte
			for i := range n {
				keys = append(keys, keyOf(i))
			}
			require.NoError(t, s.Put(keys, keys))
			now, err := s.Position(t.Context())
			require.NoError(t, err)
			listed := map[string]bool{}
			for key, err := range s.Keys(t.Context(), since) {
				require.NoError(t, err)
				if len(listed) == 0 {
					require.NoError(t, s.Forget(now))
				}
				listed[string(key)] = true
			}
			require.Equal(t, n, len(listed)) // Len would print them
		})
	}
}

// TestConcurrent: readers never miss a key between its put and its delete, while filters
// are built and saved.
func TestConcurrent(t *testing.T) {
	for name := range Open {
		t.Run(name, func(t *testing.T) {
			s, err := Open[name](t.TempDir())
			require.NoError(t, err)
			defer s.Close()
			g, err := guard.New(filepath.Join(t.TempDir(), "guard"), 1000, 0.01, s)
			require.NoError(t, err)
			require.NoError(t, g.Open(t.Context()))
			var done atomic.Bool
			var wg, builder sync.WaitGroup
			builder.Go(func() {
				for !done.Load() {
					if err := g.Rebuild(context.Background(), 1000, 0.01); err != nil {
						t.Error(err)
					}
					position, err := g.Save(context.Background())
					if err == nil {
						err = s.Forget(position)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
			for w := range 4 {
				wg.Go(func() {
					for i := range 50 {
						key := fmt.Appendf(nil, "%d/%d", w, i%10)
						err := g.Put(func() error { return s.Put([][]byte{key}, [][]byte{key}) }, key)
						if _, found, e := guard.Get(context.Background(), g, key, s.Get); !found || e != nil || err != nil {
							t.Errorf("%s: %v, %v, %v", key, found, e, err)
						}
						if err := s.Delete(key); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			done.Store(true)
			builder.Wait()
			t.Logf("%d builds", g.Counts().Builds)
		})
	}
}
