package persist

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/testing/resources"
	"github.com/stretchr/testify/require"
)

const (
	racers    = 8
	raceRate  = 1e-9
	raceBatch = 32 // keys between two barriers
)

// childRace adds keys 0 to args[1]-1 to the file args[0], one batch at the same time as the other
// seven, and writes to args[2] a byte for each key: 1 if it won. The first word of the mapped file
// args[3] counts arrivals.
func childRace(args []string) error {
	go untilStdinEnds()
	keys, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	f, err := Open(args[0], keys, raceRate)
	if err != nil {
		return err
	}
	barrierFile, err := os.OpenFile(args[3], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	data, err := mapFile(barrierFile, 8, false)
	if err != nil {
		return err
	}
	barrier := (*atomic.Uint64)(unsafe.Pointer(&data[0]))
	wins := make([]byte, keys)
	arrivals := uint64(0)
	for i := range keys {
		if i%raceBatch == 0 {
			arrivals += racers
			barrier.Add(1)
			for spin := 0; barrier.Load() < arrivals; spin++ {
				if spin > 100 {
					yieldProcessor()
				}
			}
		}
		if f.Add(key(i)) {
			wins[i] = 1
		}
	}
	for i := range keys {
		if !f.Contains(key(i)) {
			return fmt.Errorf("key %d is lost", i)
		}
	}
	return os.WriteFile(args[2], wins, 0o666)
}

// yieldProcessor lets another process run.
var yieldProcessor = func() { time.Sleep(time.Nanosecond) }

// Eight processes add the same keys to one file. Each key has exactly one winner.
func TestProcessesHaveOneWinner(t *testing.T) {
	keys := effort.Times(20_000, 40_000, 2_000_000)
	dir := resources.TempDir(t)
	path, barrier := filepath.Join(dir, "f"), filepath.Join(dir, "barrier")
	require.NoError(t, os.WriteFile(barrier, make([]byte, 4096), 0o666))
	var processes []*process
	for i := range racers {
		processes = append(processes, startChild(t, "race", path, strconv.Itoa(keys), filepath.Join(dir, fmt.Sprint("wins", i)), barrier))
	}
	winners := make([]int, keys)
	busy := 0
	for i, p := range processes {
		p.wait(t)
		wins, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("wins", i)))
		require.NoError(t, err)
		own := 0
		for key, won := range wins {
			winners[key] += int(won)
			own += int(won)
		}
		if own > keys/1000 {
			busy++
		}
	}
	for key, n := range winners {
		if n != 1 {
			t.Fatalf("key %d had %d winners", key, n)
		}
	}
	require.Greater(t, busy, 1, "one process was always first: they did not race")
	t.Logf("%d processes added the same %d keys; %d of them won often", racers, keys, busy)
}

// childMake opens each path that it is told to and adds keys of its own, from args[1] on.
func childMake(args []string) error {
	from, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var path string
	for {
		if _, err := fmt.Scan(&path); err != nil {
			return nil // no more
		}
		f, err := Open(path, 10_000, 1e-6)
		if err != nil {
			return err
		}
		for i := range uint64(100) {
			f.Add(key(from + i))
		}
		if err := f.Close(); err != nil {
			return err
		}
		fmt.Println("done")
	}
}

// Eight processes open a new path at the same time. They get the same file, so it has the keys of
// all.
func TestProcessesMakeOneFile(t *testing.T) {
	rounds := effort.Times(5, 10, 1000)
	dir := resources.TempDir(t)
	var processes []*process
	for i := range racers {
		p := startChild(t, "make", "", strconv.Itoa(100*i))
		line, _ := p.line()
		require.Equal(t, "ready", line)
		processes = append(processes, p)
	}
	for round := range rounds {
		path := filepath.Join(dir, fmt.Sprint("f", round))
		for _, p := range processes {
			_, err := fmt.Fprintln(p.in, path)
			require.NoError(t, err)
		}
		for _, p := range processes {
			if line, ok := p.line(); !ok || line != "done" {
				p.wait(t)
			}
		}
		f, err := Open(path, 10_000, 1e-6)
		require.NoError(t, err)
		for i := range uint64(100 * racers) {
			if !f.Contains(key(i)) {
				t.Fatalf("round %d: key %d is lost: two files were made", round, i)
			}
		}
		require.NoError(t, f.Close())
		require.NoError(t, os.Remove(path))
	}
	requireNoLeftover(t, filepath.Join(dir, "f"))
	for _, p := range processes {
		p.in.Close()
		p.wait(t)
	}
}
