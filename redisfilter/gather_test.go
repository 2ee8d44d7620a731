package redisfilter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// gate lets commands on, while it is open.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	shut    bool
	waiting int
}

func newGate() *gate {
	g := &gate{}
	g.changed = sync.NewCond(&g.mu)
	return g
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }
func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		g.mu.Lock()
		g.waiting++
		g.changed.Broadcast()
		for g.shut {
			g.changed.Wait()
		}
		g.waiting--
		g.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	g.shut = shut
	g.mu.Unlock()
	g.changed.Broadcast()
}

// await waits until so many commands are at the gate.
func (g *gate) await(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.waiting < n {
		g.changed.Wait()
	}
}

// gated returns a filter that has added once, and the gate that its commands pass.
func gated(t *testing.T, s *server, name string, opts ...Option) (*Filter, *gate) {
	t.Helper()
	g := newGate()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() { client.Close() })
	client.AddHook(g)
	f := openWith(t, s, client, name, 20000, 1e-9, append([]Option{noFront}, opts...)...)
	_, err := f.AddMany(bg, keysOf(-2000, -1000), nil)
	require.NoError(t, err)
	return f, g
}

// pendingOf waits until so many calls wait for a command to return.
func pendingOf(t *testing.T, g *gather, n int) {
	t.Helper()
	eventually(t, "calls wait", func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.pending == nil || g.pending.waiting != n {
			return fmt.Errorf("not %d", n)
		}
		return nil
	})
}

// TestCallsGoTogether: while flyingMost commands are under way, further calls wait and go in
// one; each gets its own answer, and of equal keys one wins.
func TestCallsGoTogether(t *testing.T) {
	s := startServer(t)
	for _, opts := range [][]Option{nil, {WithShards(3)}} {
		f, g := gated(t, s, fmt.Sprint("f", len(opts)), opts...)
		const calls = 100
		g.set(true)
		var all sync.WaitGroup
		var mu sync.Mutex
		wins := make(map[int]int)
		add := func(key int) {
			all.Go(func() {
				added, err := f.Add(bg, keyOf(key))
				if err != nil {
					t.Error(err)
				}
				if added {
					mu.Lock()
					wins[key]++
					mu.Unlock()
				}
			})
		}
		for i := range flyingMost {
			add(i)
		}
		g.await(flyingMost)
		before := f.Counts()
		for i := range calls {
			add(i / 2 * 2) // each twice, some as those under way
		}
		pendingOf(t, &f.adds, calls)
		g.set(false)
		all.Wait()
		for i := range calls {
			if i%2 == 0 || i < flyingMost {
				require.Equal(t, 1, wins[i], "key %d", i)
			}
		}
		after := f.Counts()
		require.LessOrEqual(t, after.RoundTrips-before.RoundTrips, uint64(2), "all of them together")
		require.Equal(t, uint64(calls), after.Keys-before.Keys)

		// And the same for lookups.
		g.set(true)
		ask := func(key int, want bool) {
			all.Go(func() {
				found, err := f.Contains(bg, keyOf(key))
				if err != nil || found != want {
					t.Errorf("key %d: %v, %v", key, found, err)
				}
			})
		}
		for range flyingMost {
			ask(0, true)
		}
		g.await(flyingMost)
		for i := range 600 { // more than one command holds
			ask(i/2*2+i%2*10000, i%2 == 0 && i < calls)
		}
		if len(opts) == 0 {
			pendingOf(t, &f.asks, 100)
		}
		g.set(false)
		all.Wait()
	}
}

// TestOneCallerIsNotHeldUp: a call for which there is room is sent at once and by itself.
func TestOneCallerIsNotHeldUp(t *testing.T) {
	s := startServer(t)
	f, _ := gated(t, s, "f")
	before := f.Counts()
	for i := range 50 {
		_, err := f.Add(bg, keyOf(i))
		require.NoError(t, err)
	}
	require.Equal(t, uint64(50), f.Counts().RoundTrips-before.RoundTrips)
}

// TestWaitingCallEnds: a call that waits for the others ends with its context. If it was the
// only one, its key is not added; otherwise it goes with the rest, and the error says so.
func TestWaitingCallEnds(t *testing.T) {
	s := startServer(t)
	for _, others := range []int{0, 1} {
		f, g := gated(t, s, fmt.Sprint("f", others))
		g.set(true)
		var all sync.WaitGroup
		for i := range flyingMost {
			all.Go(func() { f.Add(bg, keyOf(i)) })
		}
		g.await(flyingMost)
		for i := range others {
			all.Go(func() { f.Add(bg, keyOf(100+i)) })
		}
		if others > 0 {
			pendingOf(t, &f.adds, others)
		}
		ctx, cancel := context.WithCancel(bg)
		done := make(chan error)
		go func() { _, err := f.Add(ctx, keyOf(200)); done <- err }()
		pendingOf(t, &f.adds, others+1)
		cancel()
		err := <-done
		require.ErrorIs(t, err, context.Canceled)
		failed, ok := errors.AsType[*AddError](err)
		require.True(t, ok)
		require.Equal(t, others > 0, errors.Is(err, ErrUnknown))
		require.Len(t, append(failed.Unknown, failed.NotAdded...), 1)
		g.set(false)
		all.Wait()
		found, err := f.Contains(bg, keyOf(200))
		require.NoError(t, err)
		require.Equal(t, others > 0, found)
		added, err := f.Add(bg, keyOf(300))
		require.NoError(t, err)
		require.True(t, added, "nothing is stuck")
	}
}

// TestErrorsOfCallsTogether: what goes wrong is each caller's own error.
func TestErrorsOfCallsTogether(t *testing.T) {
	s := startServer(t)
	f, g := gated(t, s, "f")
	g.set(true)
	errs := make(chan error, 100)
	for i := range 100 {
		go func() { _, err := f.Add(bg, keyOf(i)); errs <- err }()
	}
	g.await(flyingMost)
	pendingOf(t, &f.adds, 100-flyingMost)
	require.NoError(t, s.Client.Del(bg, "f").Err())
	g.set(false)
	for range 100 {
		err := <-errs
		require.ErrorIs(t, err, ErrLost)
		failed, ok := errors.AsType[*AddError](err)
		require.True(t, ok)
		require.Len(t, append(failed.Unknown, failed.NotAdded...), 1)
	}
	require.Equal(t, uint64(1), f.Counts().Lost)
}

// TestDeadlines: with a client that keeps deadlines itself, a call ends with its context,
// says so, and needs no goroutine.
func TestDeadlines(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, ReadTimeout: time.Minute, ContextTimeoutEnabled: true})
	f := openWith(t, s, client, "f", 1000, 0.01, noFront)
	long, cancel := context.WithTimeout(bg, time.Hour)
	defer cancel()
	_, err := f.Add(long, keyOf(0))
	require.NoError(t, err)
	p.Silent.Lock()
	for name, call := range map[string]func(ctx context.Context) error{
		"Add":          func(ctx context.Context) error { _, err := f.Add(ctx, keyOf(0)); return err },
		"AddMany":      func(ctx context.Context) error { _, err := f.AddMany(ctx, keysOf(0, 9), nil); return err },
		"Contains":     func(ctx context.Context) error { _, err := f.Contains(ctx, keyOf(0)); return err },
		"ContainsMany": func(ctx context.Context) error { _, err := f.ContainsMany(ctx, keysOf(0, 9), nil); return err },
		"Reopen":       func(ctx context.Context) error { return f.Reopen(ctx) },
		"Info":         func(ctx context.Context) error { _, err := f.Info(ctx); return err },
		"Delete":       func(ctx context.Context) error { return f.Delete(ctx) },
	} {
		ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
		err := call(ctx)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		if name == "Add" || name == "AddMany" {
			require.ErrorIs(t, err, ErrUnknown, name)
		}
	}
	p.Silent.Unlock()
}
