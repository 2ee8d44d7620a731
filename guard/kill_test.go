package guard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

// A logStore is a store in a file: a log of puts and deletes, each written at once, so that a killed
// process loses none. Its position is the number of changes.
type logStore struct {
	mu      sync.RWMutex
	file    *os.File
	present map[uint64]bool
	changes []uint64 // a key, and whether it was put as the highest bit
}

const putBit = 1 << 63

func openLog(path string) (*logStore, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s := &logStore{present: map[uint64]bool{}}
	for ; len(raw) >= 8; raw = raw[8:] {
		s.apply(binary.BigEndian.Uint64(raw))
	}
	s.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return s, err
}

func (s *logStore) apply(change uint64) {
	s.changes = append(s.changes, change)
	if key := change &^ putBit; change != key {
		s.present[key] = true
	} else {
		delete(s.present, key)
	}
}

func (s *logStore) change(change uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.file.Write(binary.BigEndian.AppendUint64(nil, change))
	s.apply(change)
	return err
}

func (s *logStore) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		first := uint64(0)
		if len(since) > 0 {
			first = binary.BigEndian.Uint64(since)
		}
		s.mu.RLock()
		changes := s.changes[first:]
		s.mu.RUnlock()
		for _, change := range changes {
			if key := change &^ putBit; change != key {
				s.mu.RLock()
				present := s.present[key]
				s.mu.RUnlock()
				if present && !yield(keyOf(key), nil) {
					return
				}
			}
		}
	}
}

func (s *logStore) Position(context.Context) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return binary.BigEndian.AppendUint64(nil, uint64(len(s.changes))), nil
}

func keyOf(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }

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
			key := rand.Uint64N(4096)
			if err := g.Put(func() error { return store.change(key | putBit) }, keyOf(key)); err != nil {
				return err
			}
			return store.change(rand.Uint64N(4096))
		})
	}
	go func() {
		fmt.Println("serving")
		for {
			ready := g.Ready()
			for key := range uint64(4096) {
				store.mu.RLock() // nobody deletes it
				if store.present[key] && !g.Contains(keyOf(key)) {
					errs <- fmt.Errorf("false no: %d", key)
				}
				store.mu.RUnlock()
			}
			if ready {
				fmt.Println("checked")
			} else {
				fmt.Println("maybe")
			}
		}
	}()
	return <-errs
}

// A process is killed at any moment, again and again. It never misses a key of the store.
func TestKilled(t *testing.T) {
	kills := effort.Times(3, 20, 1000)
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
