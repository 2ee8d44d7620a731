package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	status := run([]string{"-n", "5000", "-lookups", "5000", "-dir", t.TempDir()}, &out, &errs)
	require.Zero(t, status, errs.String())
	for _, want := range []string{"5,000 records", "store alone", "with the filter", "absent keys never reached the store (9", "50 records were deleted", "all answers"} {
		require.Contains(t, out.String(), want)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "-lookups 0", "-absent 2", "-absent NaN", "-p 0", "-p 1", "more", "-nothing"} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(strings.Fields(args), &out, &errs), args)
		require.NotEmpty(t, errs.String())
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "records.bbolt"), nil, 0o600))
	var out, errs bytes.Buffer
	require.Equal(t, 1, run([]string{"-n", "10", "-dir", dir}, &out, &errs), "a store that is there is not overwritten")
}

// TestGuard: the filter follows the store through puts, overwrites, deletes and a restart.
func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	guard, err := Open(path, 100, 1e-9)
	require.NoError(t, err)
	put := func(key, value string) {
		require.NoError(t, guard.Put([][]byte{[]byte(key)}, [][]byte{[]byte(value)}))
	}
	get := func(key string) string {
		value, ok, err := guard.Get([]byte(key))
		require.NoError(t, err)
		require.Equal(t, ok, value != nil)
		return string(value)
	}
	put("a", "1")
	put("a", "2")
	put("b", "3")
	require.Equal(t, "2", get("a"))
	ok, err := guard.Delete([]byte("a"))
	require.NoError(t, err)
	require.True(t, ok)
	ok, err = guard.Delete([]byte("a"))
	require.NoError(t, err)
	require.False(t, ok)
	require.Error(t, guard.Put([][]byte{[]byte("c"), {}}, [][]byte{{1}, {2}}), "bbolt has no empty keys")

	asked := guard.asked.Load()
	require.Empty(t, get("a"))
	require.Empty(t, get("c"))
	require.Equal(t, asked, guard.asked.Load(), "the store was asked for a key that the filter knows to be absent")
	require.NoError(t, guard.Close())

	guard, err = Open(path, 100, 1e-9)
	require.NoError(t, err)
	require.Equal(t, "3", get("b"))
	require.Empty(t, get("a"))
	require.NoError(t, guard.Close())
}

// TestConcurrent: readers never miss a key whose Put has returned, while others come and go.
func TestConcurrent(t *testing.T) {
	guard, err := Open(filepath.Join(t.TempDir(), "store"), 100, 0.01)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				key := fmt.Appendf(nil, "%d/%d", g, i)
				if err := guard.Put([][]byte{key}, [][]byte{key}); err != nil {
					t.Error(err)
				}
				if _, ok, err := guard.Get(key); !ok || err != nil {
					t.Errorf("%s: %v, %v", key, ok, err)
				}
				if i%2 == 0 {
					if ok, err := guard.Delete(key); !ok || err != nil {
						t.Errorf("%s: %v, %v", key, ok, err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, guard.Close())
}
