package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

func newStore(t *testing.T, dir string) *store {
	t.Helper()
	s, err := openStore(dir)
	require.NoError(t, err)
	t.Cleanup(func() { s.db.Close() })
	return s
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
		key := fmt.Append(nil, i)
		require.NoError(t, s.put(key, key))
	}
	for i, position := range positions {
		require.Equal(t, []string{"0", "1", "2", "3"}[i:], list(position))
	}
	now, err := s.Position(t.Context())
	require.NoError(t, err)
	require.Empty(t, list(now))
	all := []string{"0", "1", "2", "3"}
	require.Equal(t, all, list(encode(5)), "the store is an old copy")
	require.NoError(t, s.forget(positions[2]))
	require.NoError(t, s.forget(positions[1]), "an older position")
	require.Equal(t, []string{"2", "3"}, list(positions[2]))
	require.Equal(t, all, list(positions[1]))
	require.NoError(t, s.forget(now))
	require.Empty(t, list(now))
	require.Equal(t, all, list(positions[3]))
	require.NoError(t, s.delete([]byte("1")))
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

	const many = 3000 // more than a page of the log
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		for range many {
			number, err := tx.Bucket(puts).NextSequence()
			require.NoError(t, err)
			require.NoError(t, tx.Bucket(puts).Put(encode(number), []byte("1")))
		}
		return nil
	}))
	require.Len(t, list(now), many)
	now = encode(4 + many)
	require.NoError(t, s.forget(encode(4+many-1)))
	require.Equal(t, []string{"1"}, list(encode(4+many-1)))
	require.Equal(t, []string{"0", "2"}, list(encode(4+many-2)))

	// No number is given twice, also after all entries were forgotten and a restart.
	dir := filepath.Dir(s.db.Path())
	require.NoError(t, s.db.Close())
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
