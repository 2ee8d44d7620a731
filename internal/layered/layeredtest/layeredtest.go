// Package layeredtest tests what filters of several layers have in common.
package layeredtest

import (
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
)

// A Filter is what the filters have in common.
type Filter interface {
	Add(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
}

// Key writes the i-th of a sequence of different keys into b.
func Key(b *[16]byte, i uint64) []byte {
	binary.LittleEndian.PutUint64(b[:], i)
	binary.LittleEndian.PutUint64(b[8:], i*0x9e3779b97f4a7c15)
	return b[:]
}

// Hooked returns a strategy that calls a hook for each position, so that a test can interfere at
// every step of an add and a lookup.
func Hooked(hook *func()) bloom.Strategy {
	return bloom.NewStrategy("hooked", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
		if *hook != nil {
			(*hook)()
		}
		return (h1 + uint64(i)*h2 + uint64(i*i*i)) % m
	})})
}

// Batches tests that batches give the answers of single calls. It adds to both filters and calls
// between between batches.
func Batches(t *testing.T, one, many Filter, between func()) {
	t.Helper()
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		keys := make([][]byte, random.IntN(300))
		for i := range keys {
			keys[i] = Key(new([16]byte), random.Uint64N(3000))
		}
		for _, call := range []struct {
			name   string
			single func([]byte) bool
			batch  func([][]byte, []bool) int
		}{{"AddMany", one.Add, many.AddMany}, {"ContainsMany", one.Contains, many.ContainsMany}} {
			want, got, count := make([]bool, len(keys)), slices.Repeat([]bool{true}, len(keys)), 0
			for i, k := range keys {
				if want[i] = call.single(k); want[i] {
					count++
				}
			}
			if n := call.batch(keys, got); n != count || !slices.Equal(got, want) {
				t.Fatalf("%s = %d, %v; want %d, %v", call.name, n, got, count, want)
			}
			for i := range keys {
				keys[i][0]++
			}
		}
		between()
	}
	two := [][]byte{[]byte("one"), []byte("two")}
	if added, found := many.AddMany(two, nil), many.ContainsMany(two, nil); added != 2 || found != 2 {
		t.Errorf("without room for answers, %d of 2 added and %d found", added, found)
	}
	for _, batch := range []func([][]byte, []bool) int{many.AddMany, many.ContainsMany} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for room for 1 answer to 2 keys")
				}
			}()
			batch(two, make([]bool, 1))
		}()
	}
}

// NoText tests that a value, alone and inside another one, refuses text, JSON and gob.
func NoText[F any](t *testing.T, f *F) {
	t.Helper()
	for _, v := range []any{f, &struct{ Seen *F }{f}, &struct{ Seen F }{}} {
		if data, err := json.Marshal(v); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("JSON of %T: %s, %v", v, data, err)
		}
		if err := gob.NewEncoder(io.Discard).Encode(v); err == nil {
			t.Errorf("gob of %T: no error", v)
		}
	}
}

// Absent returns how many of the keys of a range are found, of which the filter has none.
func Absent(f interface{ Contains(key []byte) bool }, first uint64, keys int) (found int) {
	var b [16]byte
	for i := range uint64(keys) {
		if f.Contains(Key(&b, first+i)) {
			found++
		}
	}
	return found
}

// AtMost fails if more than a share p of all is counted, with an allowance in standard deviations.
func AtMost(t *testing.T, what string, got, of int, p, sigmas float64) {
	t.Helper()
	mean := p * float64(of)
	if limit := mean + sigmas*math.Sqrt(mean) + 1; float64(got) > limit {
		t.Errorf("%s: %d of %d, want at most %.0f", what, got, of, limit)
	}
}
