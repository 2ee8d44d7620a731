package proof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A filter is what all kinds of filters have in common.
type filter interface {
	layeredtest.Filter
	io.WriterTo
}

// A kind makes filters for n keys at rate p, and reads what they write.
type kind struct {
	name string
	make func(dir string, n uint64, p float64) (filter, error)
	read func(r io.Reader) (filter, error)
}

func plain(name string, opts ...bloom.Option) kind {
	return kind{name,
		func(_ string, n uint64, p float64) (filter, error) { return bloom.New(n, p, opts...) },
		func(r io.Reader) (filter, error) { return bloom.Read(r, opts...) }}
}

// kinds are all kinds of filters, and each strategy with two hashes if it can have them.
func kinds() (all []kind) {
	for _, s := range bloom.Strategies() {
		all = append(all, plain(s.Name(), bloom.WithStrategy(s), bloom.WithSeed(99)))
		if !s.NeedsKey() {
			all = append(all, plain(s.Name()+", RapidHash", bloom.WithStrategy(s), bloom.WithHash(bloom.RapidHash)))
		}
	}
	mapped := plain("mapped file", bloom.WithStrategy(bloom.Blocked))
	mapped.make = func(dir string, n uint64, p float64) (filter, error) {
		return persist.Open(filepath.Join(dir, "mapped"), n, p, bloom.WithStrategy(bloom.Blocked))
	}
	return append(all,
		plain("keyed", bloom.WithSecret([16]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3})),
		plain("blocked, MapHash", bloom.WithStrategy(bloom.Blocked), bloom.WithHash(bloom.MapHash)),
		plain("Guava's", bloom.WithStrategy(guava.Mitz64)),
		mapped,
		kind{"scalable",
			func(_ string, n uint64, p float64) (filter, error) { return unfailing(scalable.New(n/20+1, p)) },
			func(r io.Reader) (filter, error) { return unfailing(scalable.Read(r)) }},
		kind{"counting",
			func(_ string, n uint64, p float64) (filter, error) { return counting.New(n, p) },
			func(r io.Reader) (filter, error) { return counting.Read(r) }},
		kind{"rotating",
			func(_ string, n uint64, p float64) (filter, error) {
				return unfailing(rotating.New(n/20+1, p, 24*time.Hour, rotating.WithGenerations(3)))
			},
			func(r io.Reader) (filter, error) { return unfailing(rotating.Read(r)) }},
	)
}

func unfailing(f layeredtest.Growing, err error) (filter, error) {
	return layeredtest.Unfailing{Growing: f}, err
}

// A soak is one filter and the truth about its keys.
type soak struct {
	kind
	f      filter
	prefix uint64
	added  []atomic.Bool // for certain
	won    []atomic.Int32
}

func (s *soak) key(i int) []byte {
	key := make([]byte, 8, 40)
	binary.LittleEndian.PutUint64(key, s.prefix)
	return fmt.Appendf(key, "%d", i)
}

// TestSoak runs random operations of several goroutines on every kind of filter, with batches and
// snapshots. No key is missed, and none has two winners.
func TestSoak(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	kinds, operations := kinds(), 0
	rounds := len(kinds) * testkit.Times(1, 3, 500)
	for round := range rounds {
		n := 1 + random.IntN(1<<(4+random.IntN(12)))
		p := []float64{0.1, 0.01, 0.001, 1e-6}[random.IntN(4)]
		s := &soak{kind: kinds[round%len(kinds)], prefix: random.Uint64(), added: make([]atomic.Bool, n), won: make([]atomic.Int32, n)}
		var err error
		s.f, err = s.make(t.TempDir(), uint64(n), p)
		require.NoError(t, err, s.name)
		const goroutines = 8
		steps := 200 + 3*n/goroutines
		var wg sync.WaitGroup
		for g := range goroutines {
			random := rand.New(rand.NewPCG(random.Uint64(), uint64(g)))
			wg.Go(func() {
				for range steps {
					s.step(t, random)
				}
			})
		}
		wg.Wait()
		operations += goroutines * steps
		s.check(t)
		if c, ok := s.f.(io.Closer); ok {
			require.NoError(t, c.Close())
		}
		require.False(t, t.Failed(), "%s, n = %d, p = %g, round %d", s.name, n, p, round)
	}
	t.Logf("%d rounds, %d operations", rounds, operations)
}

// step adds or looks up some keys, one by one or in a batch, in the filter or rarely in a snapshot.
func (s *soak) step(t *testing.T, random *rand.Rand) {
	first := random.IntN(len(s.added))
	var keys [][]byte
	for i := first; i < min(first+1+random.IntN(2)*random.IntN(100), len(s.added)); i++ {
		keys = append(keys, s.key(i))
	}
	answers := make([]bool, len(keys))
	if random.IntN(2) == 0 {
		if len(keys) == 1 {
			answers[0] = s.f.Add(keys[0])
		} else {
			s.f.AddMany(keys, answers)
		}
		for i, won := range answers {
			if won {
				s.won[first+i].Add(1)
			}
			s.added[first+i].Store(true)
		}
		return
	}
	before := make([]bool, len(keys))
	for i := range keys {
		before[i] = s.added[first+i].Load()
	}
	f := s.f
	if random.IntN(20+len(s.added)) < 10 { // snapshots of large filters are rare
		f = s.writeAndRead(t)
	}
	if f.ContainsMany(keys, answers); len(keys) == 1 {
		answers[0] = answers[0] && f.Contains(keys[0])
	}
	for i := range keys {
		if before[i] && !answers[i] {
			t.Errorf("%s: key %d is missed", s.name, first+i)
		}
	}
}

// check looks up all keys when the goroutines have ended, in the filter and in its snapshot.
func (s *soak) check(t *testing.T) {
	again := s.writeAndRead(t)
	for i := range s.added {
		if s.added[i].Load() && !(s.f.Contains(s.key(i)) && again.Contains(s.key(i))) || s.won[i].Load() > 1 {
			t.Errorf("%s: key %d is missed at the end, or has %d winners", s.name, i, s.won[i].Load())
		}
	}
}

// writeAndRead returns a snapshot: what a reader gets of the filter's bytes, or a clone of a filter that
// has none, as with MapHash.
func (s *soak) writeAndRead(t *testing.T) filter {
	var buf bytes.Buffer
	_, err := s.f.WriteTo(&buf)
	if errors.Is(err, bloom.ErrNotPortable) {
		return s.f.(*bloom.BloomFilter).Clone()
	}
	again, failed := s.read(&buf)
	if err := errors.Join(err, failed); err != nil {
		t.Errorf("%s: %v", s.name, err)
		return s.f
	}
	return again
}
