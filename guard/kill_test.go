package guard

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/internal/effort"
)

const logEnv = "BLOOM_GUARD_CHILD"

// child is the process that TestKilled kills; elsewhere it returns.
func child() {
	path := os.Getenv(logEnv)
	if path == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends if the parent is killed
		os.Exit(3)
	}()
	if err := serve(path); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
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
	store, err := openLog(path)
	if err != nil {
		return err
	}
	g, err := New(path+".guard", 5000, 0.01, store)
	if err != nil {
		return err
	}
	keys := names(4096)
	errs := make(chan error)
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
			if err := g.Open(context.Background()); err != nil {
				return err
			}
		}
		return g.Rebuild(context.Background(), 5000, 0.01)
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
	kills := effort.Times(3, 8, 1000)
	path := filepath.Join(t.TempDir(), "log")
	random := rand.New(rand.NewPCG(1, 2))
	checked, maybe := 0, 0
	for i := range kills + 1 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), logEnv+"="+path)
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		require.Equal(t, "serving", lines.Text())
		if i < kills { // the last process lives until it has checked once
			time.AfterFunc(time.Duration(random.Int64N(int64(20*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		}
		for lines.Scan() {
			switch line := lines.Text(); line {
			case "checked":
				checked++
				if i == kills {
					_ = cmd.Process.Kill()
				}
			case "maybe":
				maybe++
			default:
				t.Error(line)
			}
		}
		_ = cmd.Wait()
		if text := stderr.String(); strings.Contains(text, "panic") || strings.Contains(text, "fatal") {
			t.Fatal(text)
		}
		stdin.Close()
	}
	require.NotZero(t, checked)
	t.Logf("%d kills: all keys of the store were looked up %d times with a filter, %d times without one", kills, checked, maybe)
}
