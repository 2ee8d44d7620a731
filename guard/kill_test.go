package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

func TestMain(m *testing.M) {
	child.Main(m, map[string]func(args []string) error{"serve": func(args []string) error { return serve(args[0]) }})
}

// openLog returns a store whose changes are in a file.
func openLog(path string) (*memStore, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	m := newMemStore()
	for line := range strings.Lines(string(raw)) {
		m.change(strings.TrimSuffix(line, "\n"))
	}
	m.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return m, err
}

// serve opens, saves and rebuilds the guard while keys are put and deleted. It looks up all keys of
// the store again and again, and prints a line each time.
func serve(path string) error {
	child.EndWithTest()
	store, err := openLog(path)
	if err != nil {
		return err
	}
	ctx, keys, errs := context.Background(), names(4096), make(chan error)
	g := must(New(path+".guard", 5000, 0.01, store))
	again := func(pause time.Duration, do func() error) {
		go func() {
			for ; ; time.Sleep(pause) {
				if err := do(); err != nil {
					errs <- err
				}
			}
		}()
	}
	again(4*time.Millisecond, func() error {
		if !g.Ready() || rand.N(8) == 0 { // from the file again
			if err := g.Open(ctx); err != nil {
				return err
			}
		}
		return g.Rebuild(ctx, 5000, 0.01)
	})
	again(time.Millisecond, func() error {
		err := save(g)
		// Open may be reading the file, and not every Windows can replace it then.
		inUse := runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
		if errors.Is(err, ErrNotReady) || inUse {
			return nil
		}
		return err
	})
	for range 2 {
		again(50*time.Microsecond, func() error {
			key := keys[rand.N(len(keys))]
			err := g.Put(func() error { store.put(key); return nil }, []byte(key))
			store.delete(keys[rand.N(len(keys))])
			return err
		})
	}
	fmt.Println("serving")
	again(0, func() error {
		ready := g.Ready()
		for _, key := range keys {
			store.mu.RLock() // keeps the key in the store
			if _, present := store.values[key]; present && !g.ContainsString(key) {
				return fmt.Errorf("false no: %s", key)
			}
			store.mu.RUnlock()
		}
		_, err := fmt.Println(map[bool]string{true: "checked", false: "maybe"}[ready])
		return err
	})
	return <-errs
}

// A process is killed at any moment, again and again. It never misses a key of the store.
func TestKilled(t *testing.T) {
	kills := testkit.Times(3, 8, 1000)
	path := filepath.Join(t.TempDir(), "log")
	random := rand.New(rand.NewPCG(1, 2))
	lines := map[string]int{}
	for i := range kills + 1 {
		p := child.Start(t, "serve", path)
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			switch {
			case line == "serving" && i < kills:
				time.AfterFunc(time.Duration(random.Int64N(int64(20*time.Millisecond))), func() { _ = p.Process.Kill() })
			case line == "checked" && i == kills: // the last process lives until then
				_ = p.Process.Kill()
			}
			lines[line]++
		}
		_ = p.Wait()
		require.Empty(t, p.Errors())
	}
	t.Logf("%d kills: all keys were looked up %d times with a filter, %d times without one", kills, lines["checked"], lines["maybe"])
	require.NotZero(t, lines["checked"])
	require.Equal(t, kills+1, lines["serving"])
	require.LessOrEqual(t, len(lines), 3, "%v", lines)
}
