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

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

const (
	racers    = 8
	raceRate  = 1e-9
	raceBatch = 32 // keys between two barriers
)

// childRace adds the same keys as the other seven, at the same time, to the new files args[0]0,
// args[0]1, …: args[2] keys to the first file, and a batch to each of args[1] others. It writes to
// args[3] a byte for each key: 1 if it won. The first word of the mapped file args[4] counts arrivals.
func childRace(args []string) error {
	child.EndWithTest()
	files, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	keys, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	barrierFile, err := os.OpenFile(args[4], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	data, err := mapFile(barrierFile, 8, false)
	if err != nil {
		return err
	}
	arrived, arrivals := (*atomic.Uint64)(unsafe.Pointer(&data[0])), uint64(0)
	barrier := func() {
		arrivals += racers
		arrived.Add(1)
		for spin := 0; arrived.Load() < arrivals; spin++ {
			if spin > 100 {
				yieldProcessor()
			}
		}
	}
	var wins []byte
	for file := range files + 1 {
		barrier()
		f, err := Open(fmt.Sprint(args[0], file), uint64(keys), raceRate)
		if err != nil {
			return err
		}
		for i := range keys {
			if i%raceBatch == 0 {
				barrier()
			}
			won := byte(0)
			if f.Add(key(uint64(i))) {
				won = 1
			}
			wins = append(wins, won)
		}
		for i := range keys {
			if !f.Contains(key(uint64(i))) {
				return fmt.Errorf("key %d is lost", i)
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
		keys = raceBatch
	}
	return os.WriteFile(args[3], wins, 0o666)
}

// yieldProcessor lets another process run.
var yieldProcessor = func() { time.Sleep(time.Nanosecond) }

// Eight processes make files and add the same keys to them. They get the same files, so each key
// has exactly one winner.
func TestProcessesHaveOneWinner(t *testing.T) {
	files, keys := testkit.Times(5, 10, 1000), testkit.Times(20_000, 40_000, 2_000_000)
	dir := testkit.TempDir(t)
	path, barrier := filepath.Join(dir, "f"), filepath.Join(dir, "barrier")
	require.NoError(t, os.WriteFile(barrier, make([]byte, 4096), 0o666))
	var processes []*child.Process
	for i := range racers {
		processes = append(processes, child.Start(t, "race", path, strconv.Itoa(files), strconv.Itoa(keys), fmt.Sprint(dir, "/wins", i), barrier))
	}
	winners := make([]int, keys+files*raceBatch)
	busy := 0
	for i, p := range processes {
		p.Finish(t)
		wins, err := os.ReadFile(fmt.Sprint(dir, "/wins", i))
		require.NoError(t, err)
		require.Len(t, wins, len(winners))
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
	requireNoLeftover(t, path)
	t.Logf("%d processes made %d files and added the same %d keys; %d of them won often", racers, files+1, len(winners), busy)
}
