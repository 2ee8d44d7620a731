package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/persist"
	"github.com/stretchr/testify/require"
)

var secret = [16]byte{1}

func TestMain(m *testing.M) {
	child.Main(m, map[string]func([]string) error{"consume": consume})
}

// A disk is a partition whose state is in a folder. Every second message repeats one of the last 20,000 IDs.
type disk struct {
	messages        uint64
	committed, done *os.File
}

func openDisk(dir string, messages uint64) (*disk, error) {
	committed, err := os.OpenFile(filepath.Join(dir, "committed"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	done, err := os.OpenFile(filepath.Join(dir, "done"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return &disk{messages, committed, done}, err
}

func (d *disk) Read(offset uint64) (id, body []byte, err error) {
	if offset >= d.messages {
		return nil, nil, io.EOF
	}
	number := offset / 2
	if offset%2 == 1 {
		number -= rand.New(rand.NewPCG(offset, 0)).Uint64N(min(number, 20_000) + 1)
	}
	return binary.BigEndian.AppendUint64(nil, number), nil, nil
}

func (d *disk) Committed() (uint64, error) {
	next := make([]byte, 8)
	if _, err := d.committed.ReadAt(next, 0); err != nil && err != io.EOF {
		return 0, err
	}
	return binary.BigEndian.Uint64(next), nil
}

func (d *disk) Commit(next uint64) error {
	_, err := d.committed.WriteAt(binary.BigEndian.AppendUint64(nil, next), 0)
	return err
}

func (d *disk) process(id, _ []byte) error {
	_, err := d.done.Write(id)
	return err
}

// each calls f with the ID of every message that is not committed.
func (d *disk) each(f func(offset uint64, id []byte) error) error {
	offset, err := d.Committed()
	for ; err == nil; offset++ {
		var id []byte
		if id, _, err = d.Read(offset); err == nil {
			err = f(offset, id)
		}
		if err == nil && (offset+1)%commitEvery == 0 {
			err = d.Commit(offset + 1)
		}
	}
	return err
}

// designs are the consumers that docs/deduplication.md compares. lost and twice say how many messages a
// kill may cost: never processed, and processed twice.
var designs = []struct {
	name        string
	lost, twice int
	consume     func(path string, n uint64, d *disk) error
}{
	{"snapshot without its offset", 0, saveEvery, func(path string, n uint64, d *disk) error {
		s, err := load(path, n, secret)
		if err != nil {
			return err
		}
		return d.each(func(offset uint64, id []byte) error {
			if s.seen.Add(id) {
				if err := d.process(id, nil); err != nil {
					return err
				}
			}
			if (offset+1)%saveEvery == 0 {
				return persist.Save(path, s)
			}
			return nil
		})
	}},
	{"snapshot with its offset", 0, commitEvery, func(path string, n uint64, d *disk) error {
		return Consume(path, n, secret, d, d.process)
	}},
	{"mapped files, Add and process", 1, 0, func(path string, n uint64, d *disk) error { // as Once does
		seen, err := OpenDays(filepath.Dir(path), n, secret)
		if err != nil {
			return err
		}
		return d.each(func(_ uint64, id []byte) error {
			if isNew, err := seen.Add(id); err != nil || !isNew {
				return err
			}
			return d.process(id, nil)
		})
	}},
	{"mapped file, process and Add", 0, 1, func(path string, n uint64, d *disk) error {
		seen, err := persist.Open(path, n, 1e-9, bloom.WithSecret(secret))
		if err != nil {
			return err
		}
		return d.each(func(_ uint64, id []byte) error {
			if seen.Contains(id) {
				return nil
			}
			err := d.process(id, nil)
			seen.Add(id)
			return err
		})
	}},
}

// consume is a child that consumes all messages with one of the designs.
func consume(args []string) error {
	child.EndWithTest()
	design, _ := strconv.Atoi(args[0])
	messages, _ := strconv.ParseUint(args[1], 10, 64)
	d, err := openDisk(args[2], messages)
	if err != nil {
		return err
	}
	if err := designs[design].consume(filepath.Join(args[2], "filter"), messages, d); err != io.EOF {
		return err
	}
	return nil
}

// TestConsumers kills each consumer nine times, and counts the messages that it lost or processed twice.
func TestConsumers(t *testing.T) {
	messages := uint64(testkit.Times(200_000, 400_000, 2_000_000))
	for i, design := range designs {
		t.Run(design.name, func(t *testing.T) {
			dir, random := testkit.TempDir(t), rand.New(rand.NewPCG(1, 0))
			watched, err := openDisk(dir, messages)
			require.NoError(t, err)
			kills := 0
			for kills < 9 {
				p := child.Start(t, "consume", strconv.Itoa(i), fmt.Sprint(messages), dir)
				at := messages/10*uint64(kills) + random.Uint64N(messages/10)
				for next := uint64(0); next < at; time.Sleep(time.Millisecond) {
					next, err = watched.Committed()
					require.NoError(t, err)
				}
				require.NoError(t, p.Process.Kill())
				_ = p.Wait()
				kills++
			}
			child.Start(t, "consume", strconv.Itoa(i), fmt.Sprint(messages), dir).Finish(t)

			done, err := os.ReadFile(filepath.Join(dir, "done"))
			require.NoError(t, err)
			times := make([]int, messages/2)
			for ; len(done) > 0; done = done[8:] {
				times[binary.BigEndian.Uint64(done)]++
			}
			lost, twice := 0, 0
			for _, n := range times {
				lost += max(1-n, 0)
				twice += max(n-1, 0)
			}
			t.Logf("%d IDs, %d kills: never processed %d, processed again %d", len(times), kills, lost, twice)
			require.LessOrEqual(t, lost, kills*design.lost)
			require.LessOrEqual(t, twice, kills*design.twice)
		})
	}
}

// TestFailureBeforeCommit returns an error from process: after a restart the message is processed.
func TestFailureBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	d, err := openDisk(dir, 10)
	require.NoError(t, err)
	broken := errors.New("broken")
	path := filepath.Join(dir, "filter")
	require.ErrorIs(t, Consume(path, 10, secret, d, func(_, _ []byte) error { return broken }), broken)
	require.ErrorIs(t, Consume(path, 10, secret, d, d.process), io.EOF)
	done, err := os.ReadFile(filepath.Join(dir, "done"))
	require.NoError(t, err)
	require.Len(t, done, 5*8)
}

// TestOverfull: a filter with more keys than planned says so when it is saved, and at midnight.
func TestOverfull(t *testing.T) {
	var said strings.Builder
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	for n, want := range map[uint64]int{saveEvery: 0, 1000: 1} {
		said.Reset()
		dir, now := testkit.TempDir(t), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		d, err := openDisk(dir, saveEvery)
		require.NoError(t, err)
		days := at(t, dir, n/2, now)
		require.ErrorIs(t, Consume(filepath.Join(dir, "filter"), n, secret, d, func(id, _ []byte) error {
			_, err := days.Add(id)
			return err
		}), io.EOF)
		at(t, dir, n/2, now.AddDate(0, 0, 1))
		require.Equal(t, want, strings.Count(said.String(), "new messages are dropped as old"))
		require.Equal(t, want, strings.Count(said.String(), "new keys were taken for old"))
	}
}

// TestDamagedOffset finds every changed bit of the offset.
func TestDamagedOffset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	s, err := load(path, 10, secret)
	require.NoError(t, err)
	s.next = 1234
	require.NoError(t, persist.Save(path, s))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	s, err = load(path, 10, secret)
	require.NoError(t, err)
	require.EqualValues(t, 1234, s.next)
	for bit := range 128 {
		damaged := append([]byte(nil), whole...)
		damaged[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := load(path, 10, secret)
		require.ErrorIs(t, err, bloom.ErrCorrupt, "bit %d", bit)
	}
}

// TestMidnight lets goroutines add the same keys at the same moment, half of them after midnight: each key
// has exactly one winner.
func TestMidnight(t *testing.T) {
	keys := testkit.Times(20_000, 200_000, 2_000_000)
	dir := testkit.TempDir(t)
	line := testkit.Line{Runners: 4}
	wins := make([]atomic.Int32, keys)
	var group testkit.Group
	for i := range int(line.Runners) {
		d := at(t, dir, uint64(keys), time.Date(2026, 3, 1+i%2, 0, 0, 0, 0, time.UTC)) // as in a process of its own
		group.Go(func() {
			for k := range keys {
				line.Wait(uint64(k + 1))
				isNew, err := d.Add(binary.BigEndian.AppendUint64(nil, uint64(k)))
				if err != nil {
					panic(err)
				}
				if isNew {
					wins[k].Add(1)
				}
			}
		})
	}
	group.Wait()
	count := map[int32]int{}
	for k := range wins {
		count[wins[k].Load()]++
	}
	require.Equal(t, map[int32]int{1: keys}, count, "keys by their number of winners")
}

// at returns Days at a fixed time.
func at(t *testing.T, dir string, n uint64, now time.Time) *Days {
	d := &Days{dir: dir, n: n, secret: bloom.WithSecret(secret), now: func() time.Time { return now }}
	_, err := d.files()
	require.NoError(t, err)
	return d
}

// TestForgets: a key is known for a day or two after it last came, and old files are removed, also in a folder
// whose name looks like a pattern.
func TestForgets(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "days[1]")
	require.NoError(t, os.Mkdir(dir, 0o700))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := &Days{dir: dir, n: 100, secret: bloom.WithSecret(secret), now: func() time.Time { return now }}
	for _, step := range []struct {
		hours int
		isNew bool
	}{{0, true}, {1, false}, {34, false}, {-2, false}, {2, false}, {48, true}, {240, true}, {24, false}} {
		now = now.Add(time.Duration(step.hours) * time.Hour)
		isNew, err := d.Add([]byte("key"))
		require.NoError(t, err)
		require.Equal(t, step.isNew, isNew, "%v", now)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 2, "%v", now)
	}
}
