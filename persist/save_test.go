package persist

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

func filterWith(keys ...string) *bloom.BloomFilter {
	f := bloom.MustNew(1000, 1e-6)
	for _, k := range keys {
		f.AddString(k)
	}
	return f
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	for _, f := range []*bloom.BloomFilter{
		filterWith("a"),
		filterWith("a", "b"),
		bloom.MustNew(100_000, 0.01, bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(3)),
	} {
		require.NoError(t, Save(path, f))
		got, err := Load(path)
		require.NoError(t, err)
		require.True(t, got.Equal(f))
		requireNoLeftover(t, path)
	}

	key := [16]byte{1}
	keyed := bloom.MustNew(1000, 0.01, bloom.WithKey(key))
	require.NoError(t, Save(path, keyed))
	_, err := Load(path)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	got, err := Load(path, bloom.WithKey(key))
	require.NoError(t, err)
	require.True(t, got.Equal(keyed))

	// A mapped filter is saved as a snapshot of it.
	f := openFile(t, filepath.Join(tempDir(t), "f"), 1000, 1e-6)
	f.AddString("mapped")
	require.NoError(t, Save(path, f))
	got, err = Load(path)
	require.NoError(t, err)
	require.True(t, got.Equal(f.Snapshot()))
}

func TestSavePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: permissions, for Windows has access lists")
	}
	path := filepath.Join(tempDir(t), "f")
	other := filepath.Join(tempDir(t), "other")
	file, err := os.Create(other)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	mode := func(path string) fs.FileMode {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		return info.Mode()
	}

	require.NoError(t, Save(path, filterWith("a")))
	require.Equal(t, mode(other), mode(path), "a new file is as os.Create makes it")
	for _, want := range []fs.FileMode{0o600, 0o666, 0o640} {
		require.NoError(t, os.Chmod(path, want))
		require.NoError(t, Save(path, filterWith("b")))
		require.Equal(t, want, mode(path))
	}

	// A leftover does not lend its permissions to a new file.
	require.NoError(t, os.WriteFile(path+unfinished, []byte("left over"), 0o600))
	require.NoError(t, os.Chmod(path+unfinished, 0o777))
	require.NoError(t, os.Remove(path))
	require.NoError(t, Save(path, filterWith("c")))
	require.Equal(t, mode(other), mode(path))

	link := filepath.Join(tempDir(t), "link")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, Save(link, filterWith("through the link")))
	require.Equal(t, fs.ModeSymlink, mode(link).Type())
	got, err := Load(path)
	require.NoError(t, err)
	require.True(t, got.ContainsString("through the link"))
}

// TestSaveThroughALink: the file is made where the link leads, and stays there.
func TestSaveThroughALink(t *testing.T) {
	dir, far := tempDir(t), tempDir(t)
	link, second := filepath.Join(dir, "link"), filepath.Join(far, "second")
	require.NoError(t, os.Symlink(second, link))
	require.NoError(t, os.Symlink("f", second)) // relative to where it is
	for _, name := range []string{"a", "b"} {   // the first makes the file
		require.NoError(t, Save(link, filterWith(name)))
		for _, path := range []string{link, second} {
			info, err := os.Lstat(path)
			require.NoError(t, err)
			require.Equal(t, fs.ModeSymlink, info.Mode().Type())
		}
		got, err := Load(filepath.Join(far, "f"))
		require.NoError(t, err)
		require.True(t, got.ContainsString(name))
	}
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink(loop, loop))
	require.Error(t, Save(loop, filterWith("a")))
}

type panicking struct{}

func (panicking) WriteTo(io.Writer) (int64, error) { panic("in WriteTo") }

// TestSaveAfterAPanic: what WriteTo has broken off is out of the next one's way.
func TestSaveAfterAPanic(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	require.PanicsWithValue(t, "in WriteTo", func() { Save(path, panicking{}) })
	requireNoLeftover(t, path)
	require.NoError(t, Save(path, filterWith("a"))) // it would wait for ever
}

func TestSaveRefuses(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	require.NoError(t, Save(path, filterWith("a")))
	require.ErrorIs(t, Save(path, bloom.MustNew(1000, 0.01, bloom.WithHash(bloom.MapHash))), bloom.ErrNotPortable)
	got, err := Load(path)
	require.NoError(t, err)
	require.True(t, got.ContainsString("a"), "the old file is there")
	requireNoLeftover(t, path)

	require.ErrorContains(t, Save(dir, filterWith("a")), "no regular file")
	_, err = OpenReadOnly(dir)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "no regular file")
	require.ErrorIs(t, Save(filepath.Join(dir, "no", "f"), filterWith("a")), fs.ErrNotExist)
	require.Error(t, Save(filepath.Join(path, "f"), filterWith("a")), "in a file that is no folder")

	// Neither kind of file is taken for the other.
	mapped := filepath.Join(dir, "mapped")
	openFile(t, mapped, 1000, 1e-6)
	require.ErrorContains(t, Save(mapped, filterWith("a")), "it is a mapped filter")
	_, err = Load(mapped)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "it holds a mapped filter, for persist.Open or persist.OpenReadOnly")
	_, err = Open(path, 1000, 1e-6)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "it holds a Bloom filter, for bloom.Read or persist.Load")
}

func TestLoadRefuses(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	require.NoError(t, Save(path, filterWith("a")))
	good, err := os.ReadFile(path)
	require.NoError(t, err)

	_, err = Load(path + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for name, bytes := range map[string][]byte{
		"empty":    nil,
		"text":     []byte("hello"),
		"cut":      good[:len(good)-1],
		"trailing": append(good[:len(good):len(good)], 0),
		"twice":    append(good[:len(good):len(good)], good...),
	} {
		require.NoError(t, os.WriteFile(path, bytes, 0o666))
		_, err := Load(path)
		require.ErrorIs(t, err, bloom.ErrCorrupt, name)
		require.ErrorContains(t, err, strconv.Quote(path))
	}
	require.NoError(t, os.WriteFile(path, good, 0o666))
	_, err = Load(path, bloom.WithMaxBytes(10))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// Load takes the memory of the filter, and little more.
func TestLoadMemory(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	f := bloom.MustNew(4_000_000, 0.01)
	f.AddString("key")
	require.NoError(t, Save(path, f))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Load(path)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.True(t, got.ContainsString("key"))
	took := after.TotalAlloc - before.TotalAlloc
	require.Less(t, took, f.SizeBytes()+f.SizeBytes()/20)
	t.Logf("%d bytes for a filter of %d", took, f.SizeBytes())
}

// Many save to the same path at the same time: it is always a whole file of one of
// them.
func TestConcurrentSaves(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	filters := []*bloom.BloomFilter{filterWith("a"), filterWith("b"), filterWith("c"), filterWith("d")}
	require.NoError(t, Save(path, filters[0]))
	saves := effort.Times(10, 50, 500)
	var wg sync.WaitGroup
	for _, f := range filters {
		wg.Go(func() {
			for range saves {
				if err := Save(path, f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	loads := 0
	for running := true; running; loads++ {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := Load(path)
		require.NoError(t, err)
		require.True(t, got.Equal(filters[0]) || got.Equal(filters[1]) || got.Equal(filters[2]) || got.Equal(filters[3]))
	}
	requireNoLeftover(t, path)
	t.Logf("%d saves by %d goroutines, %d loads meanwhile", saves*len(filters), len(filters), loads)
}

// A gatheringFilter waits when it is written, until so many are being written.
type gatheringFilter struct {
	*bloom.BloomFilter
	inside, most *atomic.Int64
}

func (f gatheringFilter) WriteTo(w io.Writer) (int64, error) {
	now := f.inside.Add(1)
	defer f.inside.Add(-1)
	for f.most.Load() < now {
		f.most.Store(now)
	}
	for spin := 0; f.most.Load() < maxWriters || spin < 1000; spin++ {
		runtime.Gosched()
	}
	return f.BloomFilter.WriteTo(w)
}

// Each Save takes files and threads of the system, so there are never too many at a time.
func TestManySaves(t *testing.T) {
	dir := tempDir(t)
	var inside, most atomic.Int64
	f := gatheringFilter{filterWith("a"), &inside, &most}
	var wg sync.WaitGroup
	for i := range 3 * maxWriters / 2 {
		wg.Go(func() {
			if err := Save(filepath.Join(dir, fmt.Sprint(i)), f); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, maxWriters, most.Load())
	require.Empty(t, queues)
}

// childSaveOnce saves to the path args[0].
func childSaveOnce(args []string) error { return Save(args[0], filterWith("by another user")) }
