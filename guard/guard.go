package guard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Store gives a Guard the keys of a database.
type Store interface {
	// Keys yields, in any order, the keys put after since, a result of Position. If since is
	// empty, it yields all keys.
	//
	// It must yield every such key that is in the store from the call of the iterator until its end. It may yield more:
	// older keys, deleted keys, keys that are put while it runs, and keys twice. A store that does not know what was
	// put after since yields all keys. The Guard uses the bytes of a key only until the next key. An error ends the
	// build: yield no key after it.
	Keys(ctx context.Context, since []byte) iter.Seq2[[]byte, error]

	// Position returns a position in the store's history of changes, as 1 to 65535 bytes. Each rule prevents a false
	// "no" after a restart:
	//
	//   - It includes every change visible at the call, deletes too. Otherwise a crash can undo
	//     a delete that the filter has seen, and the key is back.
	//   - It includes no change that becomes visible later. Otherwise Keys skips that change.
	//   - It includes only changes that survive a crash of the machine: if a change is visible
	//     before it is on the disk, Position waits for the disk. Otherwise other changes can
	//     get the same position after the crash.
	//   - It is never reused, also not by an older copy of the store that was restored.
	//     Otherwise Keys skips what was put since the copy.
	Position(ctx context.Context) ([]byte, error)
}

// ErrNotReady means that there is no filter to save yet.
var ErrNotReady = errors.New("bloom: guard not ready")

// A Guard is a filter in front of a store. Make one with [New]. It answers "maybe" to everything
// until [Guard.Open] has made it ready; [Guard.Keep] calls Open, Save and Rebuild for the life of a
// program. The zero Guard is not usable: its methods return an error or panic, except String.
//
// All methods are safe for concurrent use by multiple goroutines.
type Guard struct {
	state atomic.Pointer[state] // replaced as a whole, by the goroutine that builds

	uncertainMu sync.Mutex
	uncertain   map[string]bool // keys of failed puts, added to every filter; guarded by uncertainMu

	path  string
	store Store
	opts  []bloom.Option

	turn    chan struct{} // has a token while no build runs
	retired []*puts       // of earlier states; the next build waits for their Puts; guarded by turn
	n       uint64
	p       float64

	saving chan struct{} // has a token while no Save runs, so that the latest position is saved last

	spared                                           sampled
	scanned, found, falsePositives, notReady, failed atomic.Uint64
}

// New returns a Guard for a store of n keys. At most a fraction p of lookups of absent keys reaches the store. path is
// the file of [Guard.Save]; nothing else may write it. If path is empty, there is no file, and Open lists all keys.
// opts are options of [bloom.New]. [bloom.WithMaxBytes] limits each filter, and a build needs two.
//
// New returns the errors of bloom.New, one that wraps [bloom.ErrInvalid] if store is nil, and one that wraps
// [bloom.ErrNotPortable] if there is a path but the filter cannot be written, as with [bloom.MapHash].
func New(path string, n uint64, p float64, store Store, opts ...bloom.Option) (*Guard, error) {
	if store == nil {
		return nil, failure.Errorf(bloom.ErrInvalid, "the store is nil")
	}
	scheme, err := bloom.NewScheme(n, p, opts...)
	if err == nil && path != "" {
		err = scheme.Portable()
	}
	if err != nil {
		return nil, err
	}
	g := &Guard{
		path: path, store: store, opts: slices.Clone(opts), n: n, p: p,
		uncertain: map[string]bool{}, turn: make(chan struct{}, 1), saving: make(chan struct{}, 1),
	}
	g.state.Store(newState(nil, nil))
	g.turn <- struct{}{}
	g.saving <- struct{}{}
	return g, nil
}

// getState returns the state. It panics for the zero Guard.
func (g *Guard) getState() *state {
	s := g.state.Load()
	if s == nil {
		panic("guard: use of the zero Guard: make one with New")
	}
	return s
}

// Contains returns false if the key is definitely not in the store, true if it may be. [Guard.Metrics] does not count
// calls of Contains.
func (g *Guard) Contains(key []byte) bool {
	filter := g.getState().filter
	return filter == nil || filter.Contains(key)
}

// ContainsString is [Guard.Contains] for a string, without copying it.
func (g *Guard) ContainsString(key string) bool { return g.Contains(memory.BytesOf(key)) }

// ContainsMany looks up keys as [Guard.Contains] does, but faster if the filter is larger than the cache. It returns
// how many may be in the store. If found is not nil, ContainsMany sets found[i] to what Contains(keys[i]) would return.
//
// It panics if found is neither nil nor as long as keys.
func (g *Guard) ContainsMany(keys [][]byte, found []bool) int {
	if filter := g.getState().filter; filter != nil {
		return filter.ContainsMany(keys, found)
	}
	batch.CheckAnswers("guard", len(keys), found)
	for i := range found {
		found[i] = true
	}
	return len(keys)
}

// Get returns the value of a key. It asks the filter first, and calls load only if the filter says
// "maybe". load returns whether the key is in the store, and its value. [Guard.Metrics] counts the results.
//
// Get returns any error from load.
func Get[V any](
	ctx context.Context, g *Guard, key []byte, load func(ctx context.Context, key []byte) (value V, found bool, err error),
) (value V, found bool, err error) {
	filter := g.getState().filter
	if filter != nil && !filter.Contains(key) {
		g.spared.add()
		return value, false, nil
	}
	value, found, err = load(ctx, key)
	switch {
	case err != nil:
		g.failed.Add(1)
	case filter == nil:
		g.notReady.Add(1)
	case found:
		g.found.Add(1)
	default:
		g.falsePositives.Add(1)
	}
	return value, found, err
}

// Put adds keys to the filter, then calls the function store, which must make the keys visible in the database. It may
// do the whole write, or only commit a transaction. Put does not wait for other calls. Open and Rebuild wait for
// unfinished puts before they list the keys, so store must not call Open or Rebuild. The keys need not be new.
//
// Put returns any error from store. After an error or a panic, the keys may be in the store, or appear there later, as
// after a commit that timed out. So the Guard keeps these keys in memory until the program ends, and adds them to every
// filter that it builds.
func (g *Guard) Put(store func() error, keys ...[]byte) (err error) {
	s := g.enter()
	defer s.puts.leave() // also if store panics
	s.next.add(keys)
	s.current.add(keys)
	stored := false
	defer func() { // before leave: a build that has waited for this Put sees the uncertain keys
		if !stored {
			g.uncertainMu.Lock()
			for _, key := range keys {
				g.uncertain[string(key)] = true
			}
			g.uncertainMu.Unlock()
		}
	}()
	err = store()
	stored = err == nil
	return err
}

// Ready reports whether there is a filter.
func (g *Guard) Ready() bool { return g.getState().filter != nil }

// Stats describes the filter, in O(m), see [bloom.BloomFilter.Stats]. It returns zero Stats until the Guard is ready.
func (g *Guard) Stats() bloom.Stats {
	if filter := g.getState().filter; filter != nil {
		return filter.Stats()
	}
	return bloom.Stats{}
}

// SizeBytes returns the number of bytes that the filter's bits take, 0 until the Guard is ready. During a build there
// is a second filter.
func (g *Guard) SizeBytes() uint64 {
	if filter := g.getState().filter; filter != nil {
		return filter.SizeBytes()
	}
	return 0
}

// String describes the guard in a line for a log, in constant time.
func (g *Guard) String() string {
	s := g.state.Load()
	if s == nil {
		return "guard.Guard(zero)"
	}
	if s.filter == nil {
		return fmt.Sprintf("guard.Guard(path=%q not ready)", g.path)
	}
	return fmt.Sprintf("guard.Guard(path=%q keys=%d filter=%v)", g.path, s.current.keys.Load(), s.filter)
}

// LogValue returns what String returns, for package log/slog.
func (g *Guard) LogValue() slog.Value { return slog.StringValue(g.String()) }
