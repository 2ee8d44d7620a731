// Package layeredtest has tests that filters of several layers share.
package layeredtest

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
)

// A Filter has the methods of a filter whose adds cannot fail.
type Filter interface {
	Add(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
}

// A Growing is a filter whose adds can fail.
type Growing interface {
	Add(key []byte) (bool, error)
	AddMany(keys [][]byte, added []bool) (int, error)
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
	io.WriterTo
}

// Unfailing turns a Growing into a Filter. It panics if an add fails.
type Unfailing struct{ Growing }

func (u Unfailing) Add(key []byte) bool { return must(u.Growing.Add(key)) }

func (u Unfailing) AddMany(keys [][]byte, added []bool) int {
	return must(u.Growing.AddMany(keys, added))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Key writes the i-th of a sequence of different keys to b and returns it.
func Key(b *[16]byte, i uint64) []byte {
	binary.LittleEndian.PutUint64(b[:], i)
	binary.LittleEndian.PutUint64(b[8:], i*0x9e3779b97f4a7c15)
	return b[:]
}

// Hooked returns a strategy that calls *hook, if not nil, for each position. So a test can act within adds and lookups.
func Hooked(hook *func()) bloom.Strategy {
	return bloom.NewStrategy("hooked", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if *hook != nil {
			(*hook)()
		}
		return (h1 + uint64(i)*h2 + uint64(i*i*i)) % m
	})})
}

// Batches tests that batches give the answers of single calls: it makes batches with the filter many, and single calls
// with the filter one. It calls between after each of 60 rounds. Then goroutines add the same keys to the filter one,
// while between is called 7 times: no key may be missing or have two winners.
func Batches(t *testing.T, one, many Filter, between func()) {
	t.Helper()
	random := rand.New(rand.NewPCG(2, 2))
	defer func(size uint64) { layered.InCache = size }(layered.InCache)
	for round := range 60 {
		layered.InCache = uint64(round%2) << 20 // the filters count as larger and smaller than the cache by turns
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
	won := make([]atomic.Int64, 2000)
	var wg testkit.Group
	for g := range 4 {
		wg.Go(func() {
			var b [16]byte
			for i := range won {
				if g == 0 && i%300 == 0 {
					between()
				}
				k := Key(&b, 1<<40+uint64(i))
				if one.Add(k) && won[i].Add(1) > 1 || !one.Contains(k) {
					t.Errorf("key %d of several goroutines: %d winners, or it is missing", i, won[i].Load())
				}
			}
		})
	}
	wg.Wait()
}

// Storm tests that Count is exact: goroutines add the same keys in different orders while between is called. between
// must not make the filter forget. Then Count is the number of true answers, no key has two true answers, and no key is
// missing.
func Storm(t *testing.T, f interface {
	Growing
	Count() uint64
}, between func()) {
	t.Helper()
	won := make([]atomic.Int64, 3000)
	var wg testkit.Group
	for g := range 8 {
		wg.Go(func() {
			var b [16]byte
			for i := range won {
				if g == 0 && i%1000 == 500 {
					between()
				}
				at := (i + g/2*7) % len(won) // two goroutines each add the same key at the same time
				if must(f.Add(Key(&b, uint64(at)))) && won[at].Add(1) > 1 {
					t.Errorf("two winners for key %d", at)
				}
			}
		})
	}
	wg.Wait()
	sum := uint64(0)
	for i := range won {
		sum += uint64(won[i].Load())
		if !f.Contains(Key(new([16]byte), uint64(i))) {
			t.Fatalf("key %d is missing", i)
		}
	}
	if f.Count() != sum {
		t.Errorf("Count = %d after %d true answers", f.Count(), sum)
	}
}

// Values tests a filter and the zero value of its type: how both are logged, what the zero value's methods do, and that
// both refuse JSON and gob, alone and as a field. No other type of the package may have methods.
func Values[F any, P interface {
	*F
	fmt.Stringer
}](t *testing.T, f P) {
	t.Helper()
	for _, v := range []any{f, &struct{ Seen P }{f}, &struct{ Seen F }{}} {
		if data, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), "has no text form: use WriteTo") {
			t.Errorf("JSON of %T: %s, %v", v, data, err)
		}
		// Encode reports no error for the last struct: gob omits fields with zero values.
		if err := gob.NewEncoder(io.Discard).Encode(v); err == nil && !reflect.ValueOf(v).Elem().IsZero() {
			t.Errorf("gob of %T: no error", v)
		}
	}
	Log(t, f, P(new(F)))
	zero.Values(t, P(new(F)))
}

// Log tests that package slog writes one short line for each value, with the result of its method String.
func Log(t *testing.T, values ...fmt.Stringer) {
	t.Helper()
	for _, v := range values {
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "filter", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("JSON", "filter", v)
		want := strings.Trim(fmt.Sprintf("%q", v.String()), `"`)
		if strings.Count(out.String(), want) != 2 || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("%T: logged as\n%s", v, out.String())
		}
	}
}

// Absent looks up keys that were never added, the given number from first on. It returns the number of false positives.
func Absent(f interface{ Contains(key []byte) bool }, first uint64, keys int) (found int) {
	var b [16]byte
	for i := range uint64(keys) {
		if f.Contains(Key(&b, first+i)) {
			found++
		}
	}
	return found
}

// AtMost fails if got exceeds p·of by more than the given number of standard deviations.
func AtMost(t *testing.T, what string, got, of int, p, sigmas float64) {
	t.Helper()
	mean := p * float64(of)
	if limit := mean + sigmas*math.Sqrt(mean) + 1; float64(got) > limit {
		t.Errorf("%s: %d of %d, want at most %.0f", what, got, of, limit)
	}
}
