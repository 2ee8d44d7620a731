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
	"github.com/seed3447c163/bloom/internal/testing/resources"
	"github.com/stretchr/testify/require"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	key := bloom.WithKey([16]byte{1})
	for _, f := range []*bloom.BloomFilter{
		filterWith("a"),
		filterWith("a", "b"),
		bloom.MustNew(100_000, 0.01, bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(3)),
	} {
		require.NoError(t, Save(path, f))
		require.True(t, loaded(t, path).Equal(f))
		requireNoLeftover(t, path)
	}
	keyed := bloom.MustNew(1000, 0.01, key)
	require.NoError(t, Save(path, keyed))
	_, err := Load(path)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	got, err := Load(path, key)
	require.NoError(t, err)
	require.True(t, got.Equal(keyed))

	// A mapped filter is saved as a snapshot.
	f := openFile(t, filepath.Join(resources.TempDir(t), "f"), 1000, 1e-6)
	f.AddString("mapped")
	require.NoError(t, Save(path, f))
	require.True(t, loaded(t, path).Equal(f.Snapshot()))
}

// The file is made where the links lead, and the links stay.
func TestSaveThroughALink(t *testing.T) {
	dir, far := resources.TempDir(t), resources.TempDir(t)
	link, second := filepath.Join(dir, "link"), filepath.Join(far, "second")
	require.NoError(t, os.Symlink(second, link))
	require.NoError(t, os.Symlink("f", second)) // relative to its folder
	for _, name := range []string{"a", "b"} {   // the first Save makes the file
		require.NoError(t, Save(link, filterWith(name)))
		for _, path := range []string{link, second} {
			info, err := os.Lstat(path)
			require.NoError(t, err)
			require.Equal(t, fs.ModeSymlink, info.Mode().Type())
		}
		require.True(t, loaded(t, filepath.Join(far, "f")).ContainsString(name))
	}
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink(loop, loop))
	require.ErrorContains(t, Save(loop, filterWith("a")), "more than 40 symbolic links")
}

func TestSaveRefuses(t *testing.T) {
	dir := resources.TempDir(t)
	path, mapped := filepath.Join(dir, "f"), filepath.Join(dir, "mapped")
	require.NoError(t, Save(path, filterWith("a")))
	require.ErrorIs(t, Save(path, bloom.MustNew(1000, 0.01, bloom.WithHash(bloom.MapHash))), bloom.ErrNotPortable)
	require.True(t, loaded(t, path).ContainsString("a"), "the old file is there")
	require.ErrorContains(t, Save(dir, filterWith("a")), "no regular file")
	require.ErrorIs(t, Save(filepath.Join(dir, "no", "f"), filterWith("a")), fs.ErrNotExist)
	require.Error(t, Save(filepath.Join(path, "f"), filterWith("a")), "in a file that is no folder")

	// No function takes the other kind of file.
	openFile(t, mapped, 1000, 1e-6)
	err := Save(mapped, filterWith("a"))
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, "it is a mapped filter")
	_, err = Load(mapped)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "it holds a mapped filter, for persist.Open or persist.OpenReadOnly")
	_, err = Open(path, 1000, 1e-6)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "it holds a Bloom filter, for bloom.Read or persist.Load")
	requireNoLeftover(t, path)
}

func TestLoadRefuses(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("a")))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = Load(path, bloom.WithMaxBytes(10))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	for name, bytes := range map[string][]byte{
		"empty":    nil,
		"text":     []byte("hello"),
		"cut":      good[:len(good)-1],
		"trailing": append(good[:len(good):len(good)], 0),
	} {
		require.NoError(t, os.WriteFile(path, bytes, 0o666))
		f, err := Load(path)
		require.Nil(t, f)
		require.ErrorIs(t, err, bloom.ErrCorrupt, name)
		require.ErrorContains(t, err, strconv.Quote(path))
	}
}

// Load takes little more memory than the filter.
func TestLoadMemory(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	f := bloom.MustNew(4_000_000, 0.01)
	require.NoError(t, Save(path, f))
	var err error
	got := resources.Allocated(func() { _, err = Load(path) })
	require.NoError(t, err)
	require.Less(t, got, f.SizeBytes()+f.SizeBytes()/20)
}

// While goroutines save to the same path, the file is always a whole one of theirs. They lock it as
// processes do.
func TestConcurrentSaves(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	filters := []*bloom.BloomFilter{filterWith("a"), filterWith("b"), filterWith("c"), filterWith("d")}
	require.NoError(t, Save(path, filters[0]))
	var wg sync.WaitGroup
	for _, f := range filters {
		wg.Go(func() {
			for range effort.Times(100, 200, 5000) {
				if err := Save(path, f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got := loaded(t, path)
		require.True(t, got.Equal(filters[0]) || got.Equal(filters[1]) || got.Equal(filters[2]) || got.Equal(filters[3]))
	}
	requireNoLeftover(t, path)
}

// Each Save takes files and threads of the system, so their number is limited.
func TestManySaves(t *testing.T) {
	dir := resources.TempDir(t)
	var inside, most atomic.Int64
	f := filterWith("a")
	gathering := writerTo(func(w io.Writer) (int64, error) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for was := most.Load(); was < now && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		for spin := 0; most.Load() < int64(cap(writers)) || spin < 1000; spin++ {
			runtime.Gosched()
		}
		return f.WriteTo(w)
	})
	var wg sync.WaitGroup
	for i := range 3 * cap(writers) / 2 {
		wg.Go(func() {
			if err := Save(filepath.Join(dir, fmt.Sprint(i)), gathering); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, cap(writers), most.Load())
	require.Empty(t, writers)
}

// childSaveOnce saves to the path args[0].
func childSaveOnce(args []string) error { return Save(args[0], filterWith("by another user")) }
