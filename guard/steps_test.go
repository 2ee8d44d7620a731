//go:build steps

package guard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math/bits"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// A history of a key is a bit for each change, the last one lowest: 1 for a put, 0 for a delete. It
// begins with a 1 and a 0: the key was not there.
type history uint64

const never history = 0b10

func (h history) present() bool { return h&1 == 1 }
func (h history) len() int      { return bits.Len64(uint64(h)) }

// puts returns the number of puts since an earlier history.
func (h history) puts(earlier history) int {
	return bits.OnesCount64(uint64(h) & (1<<(h.len()-earlier.len()) - 1))
}

// throughout reports whether the key was in the store all the time since an earlier history.
func (h history) throughout(earlier history) bool {
	return earlier.present() && h.puts(earlier) == h.len()-earlier.len()
}

// A stepStore has some keys, each named by its number. It lists a key only if it must.
type stepStore struct {
	keys  []stepped.Uint64 // histories
	fails error            // at the end of a list
}

var errStep = errors.New("the store fails")

func newStepStore(keys int, h history) *stepStore {
	s := &stepStore{keys: make([]stepped.Uint64, keys)}
	for i := range s.keys {
		s.keys[i].Load() // so that it has a name
		s.keys[i].Store(uint64(h))
	}
	return s
}

func (s *stepStore) history(key int) history { return history(s.keys[key].Load()) }

func (s *stepStore) change(key int, put uint64) {
	for {
		if h := s.keys[key].Load(); s.keys[key].CompareAndSwap(h, h<<1|put) {
			return
		}
	}
}

func (s *stepStore) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		fails := s.fails
		before := make([]history, len(s.keys))
		for key := range before {
			before[key] = s.history(key)
		}
		for key, h := range before {
			if len(since) > 0 && h.puts(history(binary.LittleEndian.Uint64(since))) == 0 {
				continue
			}
			if s.history(key).throughout(h) && !yield([]byte{byte(key)}, nil) {
				return
			}
		}
		if fails != nil {
			yield(nil, fails)
		}
	}
}

// Position is the history of the first key.
func (s *stepStore) Position(context.Context) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(nil, s.keys[0].Load()), nil
}

// A stepWorld is a guard and a store.
type stepWorld struct {
	stepped.World
	store *stepStore
	guard *Guard
	saved *snapshot
	wrong string
}

func (w *stepWorld) thread(kind string, run func() uint64) {
	w.Threads = append(w.Threads, stepped.Thread{Kind: kind, Run: run})
}

// put puts keys and, if deletes is true, deletes each one afterwards.
func (w *stepWorld) put(deletes bool, keys ...int) {
	w.thread(fmt.Sprint("put", keys, deletes), func() uint64 {
		for _, key := range keys {
			_ = w.guard.Put(func() error { w.store.change(key, 1); return nil }, []byte{byte(key)})
			if deletes {
				w.store.change(key, 0)
			} else {
				w.look(key)
			}
		}
		return uint64(len(w.wrong))
	})
}

// putLate puts a key with a store that returns an error and has the key afterwards.
func (w *stepWorld) putLate(key int) {
	w.thread("put late", func() uint64 {
		if err := w.guard.Put(func() error { return errStep }, []byte{byte(key)}); err != errStep {
			w.wrong = "the error of the store is lost"
		}
		w.store.change(key, 1)
		return uint64(len(w.wrong))
	})
}

// build builds as often as there are errors for the store to return.
func (w *stepWorld) build(fails ...error) {
	w.thread("build", func() uint64 {
		for _, w.store.fails = range fails {
			if err := w.guard.Rebuild(context.Background(), 4, 0.1); err != w.store.fails {
				w.wrong = fmt.Sprintf("a build returns %v, want %v", err, w.store.fails)
			}
		}
		return uint64(len(w.wrong))
	})
}

func (w *stepWorld) look(key int) {
	before := w.store.history(key)
	if !w.guard.Contains([]byte{byte(key)}) && w.store.history(key).throughout(before) {
		w.wrong = fmt.Sprintf("a false no for key %d", key)
	}
}

func (w *stepWorld) lookup(key int) {
	w.thread("lookup", func() uint64 { w.look(key); return uint64(len(w.wrong)) })
}

func (w *stepWorld) save() {
	w.thread("save", func() uint64 {
		s, err := w.guard.snapshot(context.Background())
		var file bytes.Buffer
		if err == nil {
			_, err = s.WriteTo(&file)
		}
		sum := crc32.ChecksumIEEE(file.Bytes())
		if err == nil {
			s, err = read(&file, w.guard.opts...)
		}
		if err != nil {
			w.wrong = err.Error()
		}
		w.saved = &s
		return uint64(sum)
	})
}

// crash opens the saved filter in front of each earlier store that the position allows.
func (w *stepWorld) crash() {
	position, last := history(binary.LittleEndian.Uint64(w.saved.position)), w.store.history(0)
	for n := range last.len() - position.len() + 1 {
		store := newStepStore(1, last>>n)
		g := must(New("", 4, 0.1, store, w.guard.opts...))
		if err := g.build(context.Background(), newLayer(w.saved.Clone(), 0), w.saved.position); err != nil {
			w.wrong = err.Error()
		} else if store.history(0).present() && !g.Contains([]byte{0}) {
			w.wrong = "a false no after a crash"
		}
	}
}

// Puts, deletes, lookups, builds and saves run in every order of the atomic operations of the real
// code. No "no" is false.
func TestGuardInSteps(t *testing.T) {
	switches := 2
	if *testkit.Long {
		switches = 3
	}
	for _, c := range []struct {
		name    string
		threads func(w *stepWorld)
	}{
		{"put, build, lookup", func(w *stepWorld) { w.put(false, 0); w.build(nil); w.lookup(0) }},
		{"put, failing build, build", func(w *stepWorld) { w.put(false, 0); w.build(errStep, nil) }},
		{"late put, two builds, lookup", func(w *stepWorld) { w.putLate(0); w.build(nil, nil); w.lookup(0) }},
		{"late put, build, save", func(w *stepWorld) { w.putLate(0); w.build(nil); w.save() }},
		{"put and delete, build, save", func(w *stepWorld) { w.put(true, 0); w.build(nil); w.save() }},
		{"two puts of one key, lookup", func(w *stepWorld) { w.put(true, 0); w.put(false, 0); w.lookup(0) }},
		{"two puts, two builds", func(w *stepWorld) { w.put(false, 0); w.put(false, 1); w.build(nil, nil) }},
		{"two puts, failing build, build", func(w *stepWorld) { w.put(false, 0); w.put(false, 1); w.build(errStep, nil) }},
		{"four puts, build", func(w *stepWorld) { w.put(false, 0, 1); w.put(false, 2, 3); w.build(nil) }},
		{"three puts at once, build", func(w *stepWorld) { w.put(false, 0); w.put(false, 1); w.put(false, 2); w.build(nil) }},
	} {
		stepped.Holds(t, c.name, func() stepped.World {
			store := newStepStore(4, never)
			w := &stepWorld{World: stepped.World{Switches: switches}, store: store}
			w.guard = must(New("", 4, 0.1, store, bloom.WithStrategy(bloom.Blocked)))
			if err := w.guard.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			c.threads(w)
			w.Check = func(waiting bool) string {
				if waiting {
					return "the build never ends"
				}
				for key := range store.keys {
					w.look(key)
				}
				if w.saved != nil {
					w.crash()
				}
				return w.wrong
			}
			return w.World
		})
	}
}
