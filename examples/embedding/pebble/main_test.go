package main

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	theirs "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

var strategies = []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked}

func policy(t testing.TB, s bloom.Strategy) Policy {
	p, err := newPolicy(10, s)
	require.NoError(t, err)
	return p
}

func key(i uint64) []byte { return fmt.Appendf(nil, "some key, number %08d", i) }

// filterOf returns the filter of so many keys that a policy makes.
func filterOf(p pebble.FilterPolicy, keys uint64) []byte {
	w := p.NewWriter(pebble.TableFilter)
	for i := range keys {
		w.AddKey(key(i))
	}
	return w.Finish(nil)
}

func TestRun(t *testing.T) { require.NoError(t, run()) }

// TestNothingIsLost: from tables of several levels, also when the store is opened again.
func TestNothingIsLost(t *testing.T) {
	for _, s := range strategies {
		fs := vfs.NewMem()
		db, err := open("store", fs, policy(t, s))
		require.NoError(t, err)
		const keys = 30_000
		for round := range uint64(4) {
			for i := range uint64(keys) {
				if i%4 == round {
					require.NoError(t, db.Set(key(i), binary.LittleEndian.AppendUint64(nil, i), pebble.NoSync))
				}
			}
			require.NoError(t, db.Flush())
		}
		all := func() {
			for i := range uint64(keys) {
				value, closer, err := db.Get(key(i))
				require.NoError(t, err, "%s: key %d", s, i)
				require.Equal(t, i, binary.LittleEndian.Uint64(value))
				require.NoError(t, closer.Close())
				_, _, err = db.Get(append(key(i), '!')) // between two that are there
				require.ErrorIs(t, err, pebble.ErrNotFound)
			}
		}
		all()
		require.Positive(t, db.Metrics().Filter.Hits, "the filters were never asked")
		require.NoError(t, db.Compact(t.Context(), key(0), key(keys/2), true))
		require.NoError(t, db.Close())
		db, err = open("store", fs, policy(t, s))
		require.NoError(t, err)
		all()
		require.NoError(t, db.Close())
	}
}

func TestBadBitsAreAnError(t *testing.T) {
	_, err := newPolicy(0, bloom.DoubleHashing)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.Panics(t, func() { Policy{}.NewWriter(pebble.TableFilter) })
}

// TestUnreadableFiltersSayPerhaps: also one of pebble's own.
func TestUnreadableFiltersSayPerhaps(t *testing.T) {
	p := policy(t, bloom.DoubleHashing)
	for _, filter := range [][]byte{nil, make([]byte, 100), filterOf(theirs.FilterPolicy(10), 100), filterOf(p, 100)[1:]} {
		require.True(t, p.MayContain(pebble.TableFilter, filter, key(1000)))
	}
	require.False(t, p.MayContain(pebble.TableFilter, filterOf(p, 0), key(1)))
}

// TestRate: not above what pebble's own has with the same bits a key, and no allocation.
func TestRate(t *testing.T) {
	const keys, asked = 10_000, 200_000
	rate := func(p pebble.FilterPolicy) float64 {
		filter, hits := filterOf(p, keys), 0
		for i := range uint64(asked) {
			if p.MayContain(pebble.TableFilter, filter, key(keys+i)) {
				hits++
			}
		}
		return float64(hits) / asked
	}
	own := rate(theirs.FilterPolicy(10))
	for _, s := range strategies {
		p := policy(t, s)
		got := rate(p)
		t.Logf("%s %.2f %%, pebble %.2f %%, %d and %d bytes", s, 100*got, 100*own, len(filterOf(p, keys)), len(filterOf(theirs.FilterPolicy(10), keys)))
		require.Less(t, got, 1.05*own)
		filter, k := filterOf(p, keys), key(1)
		require.Zero(t, testing.AllocsPerRun(100, func() { p.MayContain(pebble.TableFilter, filter, k) }))
	}
}

// BenchmarkMayContain is one question of a filter in a block, as pebble asks it: by the
// interface.
func BenchmarkMayContain(b *testing.B) {
	const keys = 10_000
	for _, of := range []struct {
		name string
		pebble.FilterPolicy
	}{{"pebble", theirs.FilterPolicy(10)}, {"double-hashing", policy(b, bloom.DoubleHashing)}, {"blocked", policy(b, bloom.Blocked)}, {"split-block", policy(b, bloom.SplitBlock)}} {
		filter := filterOf(of.FilterPolicy, keys)
		for _, first := range []uint64{0, keys, keys - 512} {
			var asked [1024][]byte
			for i := range asked {
				asked[i] = key(first + uint64(i*7)%1024)
			}
			name := map[uint64]string{0: "hit", keys: "miss", keys - 512: "mixed"}[first]
			b.Run(fmt.Sprintf("of=%s/key=%s", of.name, name), func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				for i := 0; b.Loop(); i++ {
					if of.MayContain(pebble.TableFilter, filter, asked[i%len(asked)]) {
						found++
					}
				}
			})
		}
	}
}

// BenchmarkWriter is a table's filter, from its keys.
func BenchmarkWriter(b *testing.B) {
	var keys [1000][]byte
	for i := range keys {
		keys[i] = key(uint64(i))
	}
	for _, of := range []struct {
		name string
		pebble.FilterPolicy
	}{{"pebble", theirs.FilterPolicy(10)}, {"double-hashing", policy(b, bloom.DoubleHashing)}, {"blocked", policy(b, bloom.Blocked)}} {
		b.Run("of="+of.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			w := of.NewWriter(pebble.TableFilter)
			for b.Loop() {
				for _, k := range keys {
					w.AddKey(k)
				}
				buf = w.Finish(buf[:0])
			}
		})
	}
}
