package main

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
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A filter is what all kinds have in common.
type filter interface {
	Add(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
	io.WriterTo
}

// growing gives a scalable filter the common signatures; its only error is that it is
// full, which it never is here.
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

// A kind makes filters for n keys at rate p and reads what they write.
type kind struct {
	name string
	make func(s *soak, n uint64, p float64) (filter, error)
	read func(r io.Reader) (filter, error)
}

const window = 24 * time.Hour // nothing is forgotten while we look

func plain(name string, opts ...bloom.Option) kind {
	return kind{name,
		func(_ *soak, n uint64, p float64) (filter, error) { return bloom.New(n, p, opts...) },
		func(r io.Reader) (filter, error) { return bloom.Read(r, opts...) }}
}

var secret = [16]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}

var kinds = []kind{
	plain("double hashing"),
	plain("blocked", bloom.WithStrategy(bloom.Blocked)),
	{"mapped file",
		func(s *soak, n uint64, p float64) (filter, error) {
			return persist.Open(filepath.Join(s.dir, fmt.Sprint("mapped", s.random.Uint64())), n, p, bloom.WithStrategy(bloom.Blocked))
		},
		func(r io.Reader) (filter, error) { return bloom.Read(r) }},
	{"scalable",
		func(_ *soak, n uint64, p float64) (filter, error) {
			f, err := scalable.New(n/20+1, p)
			return growing{f}, err
		},
		func(r io.Reader) (filter, error) {
			g, err := scalable.Read(r)
			return growing{g}, err
		}},
	plain("seeded hashing", bloom.WithStrategy(bloom.SeededHashing), bloom.WithSeed(99)),
	plain("keyed", bloom.WithKey(secret)),
	{"counting",
		func(_ *soak, n uint64, p float64) (filter, error) { return counting.New(n, p) },
		func(r io.Reader) (filter, error) { return counting.Read(r) }},
	{"rotating",
		func(_ *soak, n uint64, p float64) (filter, error) { return rotating.New(n, p, window, 3) },
		func(r io.Reader) (filter, error) { return rotating.Read(r) }},
	plain("Guava's 64-bit", bloom.WithStrategy(guava.Mitz64)),
	plain("double hashing, RapidHash", bloom.WithHash(bloom.RapidHash), bloom.WithSeed(99)),
	plain("blocked, MapHash", bloom.WithStrategy(bloom.Blocked), bloom.WithHash(bloom.MapHash)),
}

// A model is the truth about the keys of a round: which have been added, for certain,
// and how many calls were told that a key is new.
type model struct {
	prefix uint64
	added  []atomic.Bool
	won    []atomic.Int32
	united []atomic.Bool // came by a union: perhaps without a winner
}

func (m *model) key(i int) []byte {
	key := make([]byte, 8, 40)
	binary.LittleEndian.PutUint64(key, m.prefix)
	return fmt.Appendf(key, "%d", i)
}

// round works on one filter for a while: a random n and p, at most n keys.
func (k kind) round(s *soak) {
	n := 1 + s.random.IntN(1<<(4+s.random.IntN(12)))
	p := []float64{0.1, 0.01, 0.001, 1e-6}[s.random.IntN(4)]
	f, err := k.make(s, uint64(n), p)
	if err != nil {
		s.fault("%s: %v", k.name, err)
		return
	}
	m := &model{prefix: s.random.Uint64(), added: make([]atomic.Bool, n), won: make([]atomic.Int32, n), united: make([]atomic.Bool, n)}
	var wg sync.WaitGroup
	for g := range s.goroutines {
		random := rand.New(rand.NewPCG(s.random.Uint64(), uint64(g)))
		wg.Go(func() {
			w := worker{s, k, f, m, random, map[string]int{}}
			for range 200 + 3*n/s.goroutines {
				w.step()
			}
			for what, times := range w.done {
				s.count(what, times)
			}
		})
	}
	wg.Wait()
	k.check(s, f, m, p)
	if c, ok := f.(*counting.Filter); ok {
		s.removeHalf(c, m)
	}
	if c, ok := f.(io.Closer); ok {
		if err := c.Close(); err != nil {
			s.fault("%s: %v", k.name, err)
		}
	}
	s.count("rounds of "+k.name, 1)
}

// check looks at every key when all is quiet, in the filter and in what it writes.
func (k kind) check(s *soak, f filter, m *model, p float64) {
	again := k.writeAndRead(s, f)
	nobody := 0
	for i := range m.added {
		for _, g := range []filter{f, again} {
			if m.added[i].Load() && !g.Contains(m.key(i)) {
				s.fault("%s: key %d of %d is missed in %T", k.name, i, len(m.added), g)
			}
		}
		switch won := m.won[i].Load(); {
		case won > 1:
			s.fault("%s: key %d has %d winners", k.name, i, won)
		case won == 0 && m.added[i].Load() && !m.united[i].Load():
			nobody++
		}
	}
	s.count("keys that nobody won", nobody)
	positives, probes := 0, 2*len(m.added)
	for i := range probes {
		was := f.Contains(m.key(1<<40 + i))
		if was != again.Contains(m.key(1<<40+i)) {
			s.fault("%s: what was written answers otherwise", k.name)
		}
		if was {
			positives++
		}
	}
	s.count("probes with absent keys", probes)
	s.count("false positives", positives)
	s.expected += p * float64(probes)
}

// writeAndRead returns what a reader of the filter's bytes gets. With MapHash nobody
// can read them, so it is a clone.
func (k kind) writeAndRead(s *soak, f filter) filter {
	var buf bytes.Buffer
	_, err := f.WriteTo(&buf)
	if errors.Is(err, bloom.ErrNotPortable) {
		return f.(*bloom.BloomFilter).Clone()
	}
	var again filter
	if err == nil {
		again, err = k.read(&buf)
	}
	if err != nil {
		s.fault("%s: %v", k.name, err)
		return f
	}
	return again
}

// removeHalf removes half of the keys of a counting filter: the other half stays.
func (s *soak) removeHalf(f *counting.Filter, m *model) {
	for i := range m.added {
		if m.won[i].Load() == 1 && i%2 == 0 && !f.Remove(m.key(i)) {
			s.fault("counting: key %d cannot be removed", i)
		}
	}
	for i := 1; i < len(m.added); i += 2 {
		if m.won[i].Load() == 1 && !f.Contains(m.key(i)) {
			s.fault("counting: key %d went with the others", i)
		}
	}
	s.count("removals", len(m.added)/2)
}
