package main

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"
)

var strategies = []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked}

func policy(t testing.TB, s bloom.Strategy) Policy {
	p, err := newPolicy(10, s)
	require.NoError(t, err)
	return p
}

func key(i int) []byte { return fmt.Appendf(nil, "some key, number %08d", i) }

// buffer is a table's, as goleveldb has it.
type buffer struct{ util.Buffer }

func filterOf(f filter.Filter, first, keys int) []byte {
	g, b := f.NewGenerator(), &buffer{}
	for i := range keys {
		g.Add(key(first + i))
	}
	g.Generate(b)
	return b.Bytes()
}

func TestRun(t *testing.T) { require.NoError(t, run()) }

// TestNothingIsLost: through tables of several levels, and a store that is opened again.
func TestNothingIsLost(t *testing.T) {
	for _, s := range strategies {
		disk := storage.NewMemStorage()
		options := &opt.Options{Filter: policy(t, s), WriteBuffer: 128 << 10}
		db, err := leveldb.Open(disk, options)
		require.NoError(t, err)
		const keys = 30_000
		for round := range 4 {
			for i := range keys {
				if i%4 == round {
					require.NoError(t, db.Put(key(i), key(i), nil))
				}
			}
		}
		require.NoError(t, db.CompactRange(util.Range{Limit: key(keys / 2)}))
		require.NoError(t, db.Close())
		db, err = leveldb.Open(disk, options)
		require.NoError(t, err)
		for i := range keys {
			value, err := db.Get(key(i), nil)
			require.NoError(t, err, "%s: key %d", s, i)
			require.Equal(t, key(i), value)
			_, err = db.Get(append(key(i), '!'), nil) // between two that are there
			require.ErrorIs(t, err, leveldb.ErrNotFound)
		}
		require.NoError(t, db.Close())
	}
}

func TestBadBitsAreAnError(t *testing.T) {
	_, err := newPolicy(0, bloom.DoubleHashing)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.Panics(t, func() { Policy{}.NewGenerator() })
}

func TestUnreadableFiltersSayPerhaps(t *testing.T) {
	p := policy(t, bloom.DoubleHashing)
	for _, f := range [][]byte{nil, make([]byte, 100), filterOf(filter.NewBloomFilter(10), 0, 100), filterOf(p, 0, 100)[1:]} {
		require.True(t, p.Contains(f, key(1000)))
	}
}

// TestRate: with 16 and with 1000 keys, what so many bits allow.
func TestRate(t *testing.T) {
	const asked = 50
	for _, keys := range []int{16, 1000} {
		rate := func(f filter.Filter) (rate float64, size int) {
			hits, filters := 0, 64_000/keys
			for i := range filters {
				filter := filterOf(f, i*keys, keys)
				for j := range asked {
					if f.Contains(filter, key(10_000_000+i*asked+j)) {
						hits++
					}
				}
				size = len(filter)
			}
			return float64(hits) / float64(asked*filters), size
		}
		own, ownSize := rate(filter.NewBloomFilter(10))
		for s, k := range map[bloom.Strategy]int{bloom.DoubleHashing: 7, bloom.Blocked2: 6} {
			got, size := rate(policy(t, s))
			t.Logf("%d keys: %s %.2f %% and %d bytes, goleveldb %.2f %% and %d", keys, s, 100*got, size, 100*own, ownSize)
			bits := uint64(size-16) * 8
			require.InDelta(t, s.FalsePositiveRate(bits, k, uint64(keys)), got, 0.003)
		}
	}
}

// BenchmarkGenerator is the filter of 16 keys, from the keys.
func BenchmarkGenerator(b *testing.B) {
	var keys [16][]byte
	for i := range keys {
		keys[i] = key(i)
	}
	for _, of := range []struct {
		name string
		filter.Filter
	}{{"goleveldb", filter.NewBloomFilter(10)}, {"double-hashing", policy(b, bloom.DoubleHashing)}, {"blocked", policy(b, bloom.Blocked)}} {
		b.Run("of="+of.name, func(b *testing.B) {
			b.ReportAllocs()
			g, buf := of.NewGenerator(), &buffer{}
			for b.Loop() {
				for _, k := range keys {
					g.Add(k)
				}
				buf.Reset()
				g.Generate(buf)
			}
		})
	}
}

// BenchmarkContains is one question of a filter of 1000 keys.
func BenchmarkContains(b *testing.B) {
	for _, of := range []struct {
		name string
		filter.Filter
	}{{"goleveldb", filter.NewBloomFilter(10)}, {"double-hashing", policy(b, bloom.DoubleHashing)}, {"blocked", policy(b, bloom.Blocked)}} {
		f := filterOf(of.Filter, 0, 1000)
		for first, name := range map[int]string{0: "hit", 1000: "miss"} {
			var asked [512][]byte
			for i := range asked {
				asked[i] = key(first + i*7%512)
			}
			b.Run(fmt.Sprintf("of=%s/key=%s", of.name, name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					of.Contains(f, asked[i%len(asked)])
				}
			})
		}
	}
}
