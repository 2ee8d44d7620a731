package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	theirs "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var strategies = slices.DeleteFunc(bloom.Strategies(), bloom.Strategy.NeedsKey)

func key(i uint64) []byte { return fmt.Appendf(nil, "some key, number %08d", i) }

func policy(t *testing.T, s bloom.Strategy) Policy {
	p, err := newPolicy(10, s)
	require.NoError(t, err)
	return p
}

// filterOf returns a policy's filter of the first keys.
func filterOf(p pebble.FilterPolicy, keys uint64) []byte {
	w := p.NewWriter(pebble.TableFilter)
	for i := range keys {
		w.AddKey(key(i))
	}
	return w.Finish(nil)
}

// TestNothingIsLost in tables of several levels, before and after the store is opened again.
func TestNothingIsLost(t *testing.T) {
	for _, s := range strategies {
		fs := vfs.NewMem()
		db, err := open("store", fs, policy(t, s))
		require.NoError(t, err)
		const keys = 10_000
		for round := range uint64(4) {
			for i := round; i < keys; i += 4 {
				require.NoError(t, db.Set(key(i), binary.LittleEndian.AppendUint64(nil, i), pebble.NoSync))
			}
			require.NoError(t, db.Flush())
		}
		all := func() {
			for i := range uint64(keys) {
				value, closer, err := db.Get(key(i))
				require.NoError(t, err, "%s: key %d", s, i)
				require.Equal(t, i, binary.LittleEndian.Uint64(value))
				require.NoError(t, closer.Close())
				_, _, err = db.Get(append(key(i), '!')) // between two present keys
				require.ErrorIs(t, err, pebble.ErrNotFound)
			}
		}
		all()
		// A compaction may have moved all keys to the last level, where pebble asks no filter.
		for i := uint64(keys); db.Metrics().Filter.Hits == 0 && i < 2*keys; i += 2 {
			require.NoError(t, db.Set(key(i), nil, pebble.NoSync))
			require.NoError(t, db.Set(key(i+1), nil, pebble.NoSync))
			require.NoError(t, db.Flush())
			_, _, err := db.Get(append(key(i), '!'))
			require.ErrorIs(t, err, pebble.ErrNotFound)
		}
		require.Positive(t, db.Metrics().Filter.Hits, "the filters were never queried")
		require.NoError(t, db.Compact(t.Context(), key(0), key(keys/2), true))
		require.NoError(t, db.Close())
		db, err = open("store", fs, policy(t, s))
		require.NoError(t, err)
		all()
		require.NoError(t, db.Close())
	}
}

// TestUnreadableFiltersMayContain includes pebble's own filters.
func TestUnreadableFiltersMayContain(t *testing.T) {
	p := policy(t, bloom.DoubleHashing)
	for _, filter := range [][]byte{nil, make([]byte, 100), filterOf(theirs.FilterPolicy(10), 100), filterOf(p, 100)[1:]} {
		require.True(t, p.MayContain(pebble.TableFilter, filter, key(1000)))
	}
	require.False(t, p.MayContain(pebble.TableFilter, filterOf(p, 0), key(1)))
}

// TestTablesAtOnce writes tables of different sizes at the same time: each has its own keys, and no more.
func TestTablesAtOnce(t *testing.T) {
	p := policy(t, bloom.SplitBlock)
	var tables sync.WaitGroup
	for n := range uint64(50) {
		want := filterOf(policy(t, bloom.SplitBlock), n)
		tables.Go(func() {
			for range 20 {
				assert.Equal(t, want, filterOf(p, n))
			}
		})
	}
	tables.Wait()
	_, err := newPolicy(0, bloom.SplitBlock)
	require.ErrorIs(t, err, bloom.ErrInvalid)
}
