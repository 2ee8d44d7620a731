package proof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

var (
	soakFor  = flag.Duration("soak", 2*time.Second, "how long TestSoak runs")
	soakSeed = flag.Uint64("soakseed", 1, "the seed of TestSoak's operations")
)

// A filter is what all kinds of filters have in common.
type filter interface {
	Add(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
	io.WriterTo
}

// growing gives a scalable filter these signatures. It never becomes full here.
type growing struct{ *scalable.Filter }

func (g growing) Add(key []byte) bool {
	won, err := g.Filter.Add(key)
	if err != nil {
		panic(err)
	}
	return won
}

func (g growing) AddMany(keys [][]byte, added []bool) int {
	n, err := g.Filter.AddMany(keys, added)
	if err != nil {
		panic(err)
	}
	return n
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

var kinds = []kind{
	plain("double hashing"),
	plain("blocked", bloom.WithStrategy(bloom.Blocked)),
	plain("split block, RapidHash", bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(bloom.RapidHash), bloom.WithSeed(99)),
	plain("seeded hashing", bloom.WithStrategy(bloom.SeededHashing), bloom.WithSeed(99)),
	plain("keyed", bloom.WithKey([16]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3})),
	plain("blocked, MapHash", bloom.WithStrategy(bloom.Blocked), bloom.WithHash(bloom.MapHash)),
	plain("Guava's", bloom.WithStrategy(guava.Mitz64)),
	{"mapped file",
		func(dir string, n uint64, p float64) (filter, error) {
			return persist.Open(filepath.Join(dir, "mapped"), n, p, bloom.WithStrategy(bloom.Blocked))
		},
		func(r io.Reader) (filter, error) { return bloom.Read(r) }},
	{"scalable",
		func(_ string, n uint64, p float64) (filter, error) {
			f, err := scalable.New(n/20+1, p)
			return growing{f}, err
		},
		func(r io.Reader) (filter, error) {
			f, err := scalable.Read(r)
			return growing{f}, err
		}},
	{"counting",
		func(_ string, n uint64, p float64) (filter, error) { return counting.New(n, p) },
		func(r io.Reader) (filter, error) { return counting.Read(r) }},
	{"rotating",
		func(_ string, n uint64, p float64) (filter, error) {
			return rotating.New(n, p, 24*time.Hour, rotating.WithGenerations(3))
		},
		func(r io.Reader) (filter, error) { return rotating.Read(r) }},
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
// snapshots. No key is missed, none has two winners, and p allows the false positives of all rounds.
func TestSoak(t *testing.T) {
	random := rand.New(rand.NewPCG(*soakSeed, 1))
	rounds, operations, positives, expected := 0, 0, 0, 0.0
	for began := time.Now(); rounds < len(kinds) || time.Since(began) < *soakFor; rounds++ {
		n := 1 + random.IntN(1<<(4+random.IntN(12)))
		p := []float64{0.1, 0.01, 0.001, 1e-6}[random.IntN(4)]
		s := &soak{kind: kinds[rounds%len(kinds)], prefix: random.Uint64(), added: make([]atomic.Bool, n), won: make([]atomic.Int32, n)}
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
		positives += s.check(t)
		expected += p * float64(2*n)
		if c, ok := s.f.(io.Closer); ok {
			require.NoError(t, c.Close())
		}
		require.False(t, t.Failed(), "%s, n = %d, p = %g, round %d", s.name, n, p, rounds)
	}
	require.LessOrEqual(t, float64(positives), expected+4*math.Sqrt(expected)+4, "false positives")
	t.Logf("%d rounds, %d operations, %d false positives, %.0f allowed", rounds, operations, positives, expected)
}

// step does one random operation.
func (s *soak) step(t *testing.T, random *rand.Rand) {
	n := len(s.added)
	i := random.IntN(n)
	switch r := random.IntN(1000); {
	case r < 500:
		if s.f.Add(s.key(i)) {
			s.won[i].Add(1)
		}
		s.added[i].Store(true)
	case r < 850:
		if before := s.added[i].Load(); !s.f.Contains(s.key(i)) && before {
			t.Errorf("%s: key %d is missed", s.name, i)
		}
	case r < 920:
		keys := s.batch(i)
		added := make([]bool, len(keys))
		s.f.AddMany(keys, added)
		for j, won := range added {
			if won {
				s.won[i+j].Add(1)
			}
			s.added[i+j].Store(true)
		}
	case r < 990 || r >= 995 || n > 1000 && r > 990: // snapshots of large filters are rare
		keys := s.batch(i)
		before, found := make([]bool, len(keys)), make([]bool, len(keys))
		for j := range keys {
			before[j] = s.added[i+j].Load()
		}
		s.f.ContainsMany(keys, found)
		for j := range keys {
			if before[j] && !found[j] {
				t.Errorf("%s: key %d is missed in a batch", s.name, i+j)
			}
		}
	default:
		before := s.added[i].Load()
		if again := s.writeAndRead(t); before && !again.Contains(s.key(i)) {
			t.Errorf("%s: key %d is missed in a snapshot", s.name, i)
		}
	}
}

func (s *soak) batch(i int) (keys [][]byte) {
	for j := i; j < min(i+100, len(s.added)); j++ {
		keys = append(keys, s.key(j))
	}
	return keys
}

// check looks up all keys when the goroutines have ended, in the filter and in its snapshot, and returns
// how many of twice as many absent keys are false positives.
func (s *soak) check(t *testing.T) (positives int) {
	again := s.writeAndRead(t)
	for i := range s.added {
		if s.added[i].Load() && !(s.f.Contains(s.key(i)) && again.Contains(s.key(i))) || s.won[i].Load() > 1 {
			t.Errorf("%s: key %d is missed at the end, or has %d winners", s.name, i, s.won[i].Load())
		}
		for _, absent := range []int{1<<40 + i, 1<<41 + i} {
			found := s.f.Contains(s.key(absent))
			if found != again.Contains(s.key(absent)) {
				t.Errorf("%s: a snapshot gives another answer", s.name)
			}
			if found {
				positives++
			}
		}
	}
	return positives
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
