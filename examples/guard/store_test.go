package main

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
)

func keyOf(i int) []byte {
	return binary.LittleEndian.AppendUint64([]byte("user/"), uint64(i)*0x9e3779b97f4a7c15)
}

func newStore(t *testing.T, dir string) *store {
	t.Helper()
	s, err := openStore(dir)
	require.NoError(t, err)
	t.Cleanup(func() { s.close() })
	return s
}

// A guard with this store is opened, saved, reopened and rebuilt.
func TestLife(t *testing.T) {
	const n = 20_000
	ctx, dir := t.Context(), t.TempDir()
	file := filepath.Join(dir, "guard")
	s := newStore(t, dir)
	g, err := guard.New(file, n, 0.01, s)
	require.NoError(t, err)
	put := func(from, to int) {
		var keys [][]byte
		for i := from; i < to; i++ {
			keys = append(keys, keyOf(i))
		}
		require.NoError(t, g.Put(func() error { return s.put(keys, keys) }, keys...))
	}
	look := func(from, to int) (found int) {
		for i := from; i < to; i++ {
			value, ok, err := guard.Get(ctx, g, keyOf(i), s.get)
			require.NoError(t, err)
			if ok {
				require.Equal(t, keyOf(i), value)
				found++
			}
		}
		return found
	}
	put(0, n/2)
	require.NoError(t, g.Open(ctx))
	require.EqualValues(t, n/2, g.Counts().Scanned)
	put(n/2, n)
	require.Equal(t, n, look(0, n), "false noes")
	require.Zero(t, look(n, 2*n))
	require.InDelta(t, 0.01, g.Counts().FalsePositiveRate(), 0.005) // 7 σ, of fixed keys

	// After a restart only the keys since the save are listed.
	position, err := g.Save(ctx)
	require.NoError(t, err)
	require.NoError(t, s.forget(position))
	put(n, n+n/100)
	require.NoError(t, s.delete(keyOf(0)))
	require.NoError(t, s.close())
	s = newStore(t, dir)
	g, err = guard.New(file, n, 0.01, s)
	require.NoError(t, err)
	require.NoError(t, g.Open(ctx))
	require.EqualValues(t, n/100, g.Counts().Scanned)
	require.Equal(t, n+n/100-1, look(0, n+n/100), "false noes")

	// Lookups of deleted keys reach the store until a rebuild.
	for i := 1; i <= 10; i++ {
		require.NoError(t, s.delete(keyOf(i)))
	}
	before := g.Counts()
	require.Zero(t, look(1, 11))
	require.Equal(t, before.Spared, g.Counts().Spared)
	require.NoError(t, g.Rebuild(ctx, 2*n, 0.001))
	before = g.Counts()
	require.Zero(t, look(1, 11))
	require.EqualValues(t, 10, g.Counts().Spared-before.Spared)
}

// Keys lists the puts since a position, and all records if the log does not reach back to it or the
// store has not reached it.
func TestKeysSince(t *testing.T) {
	s := newStore(t, t.TempDir())
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
		require.NoError(t, s.put(key, key))
	}
	for i, position := range positions {
		require.Equal(t, []string{"0", "1", "2", "3"}[i:], list(position))
	}
	now, err := s.Position(t.Context())
	require.NoError(t, err)
	require.Empty(t, list(now))
	all := []string{"0", "1", "2", "3"}
	require.Equal(t, all, list(encode(decode(now)+1)), "the store is an old copy")
	require.NoError(t, s.forget(positions[2]))
	require.NoError(t, s.forget(positions[1]), "an older position")
	require.Equal(t, []string{"2", "3"}, list(positions[2]))
	require.Equal(t, all, list(positions[1]))
	require.NoError(t, s.forget(now))
	require.Empty(t, list(now))
	require.Equal(t, all, list(positions[3]))
	require.NoError(t, s.delete([]byte("1"), []byte("7")))
	require.Equal(t, []string{"0", "2", "3"}, list(nil))
	for range s.Keys(t.Context(), nil) { // an iterator that ends early leaves nothing open
		break
	}
	var listed []string
	for key, err := range s.Keys(t.Context(), positions[0]) { // a list that begins has its keys
		require.NoError(t, err)
		require.NoError(t, s.delete([]byte("3")))
		listed = append(listed, string(key))
	}
	require.Equal(t, []string{"0", "2", "3"}, listed)

	// No number is given twice, also after all entries were forgotten and a restart.
	dir := filepath.Dir(s.db.Path())
	require.NoError(t, s.close())
	s = newStore(t, dir)
	again, err := s.Position(t.Context())
	require.NoError(t, err)
	require.Equal(t, now, again)
}

// A commit is visible before it is on the disk, and holds the write lock until then. Position waits
// for that lock.
func TestPositionIsDurable(t *testing.T) {
	s := newStore(t, t.TempDir())
	tx, err := s.db.Begin(true) // a commit under way
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	answered := make(chan error, 1)
	go func() {
		_, err := s.Position(t.Context())
		answered <- err
	}()
	stacks := make([]byte, 1<<20)
	for waiting := false; !waiting; {
		select {
		case <-answered:
			t.Fatal("Position did not wait for the commit")
		default:
		}
		runtime.Gosched()
		waiting = strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "bbolt.(*DB).beginRWTx")
	}
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-answered)
}
