package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	key := bloom.WithSecret([16]byte{1})
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
	f := openFile(t, filepath.Join(testkit.TempDir(t), "f"), 1000, 1e-6)
	f.AddString("mapped")
	require.NoError(t, Save(path, f))
	require.True(t, loaded(t, path).Equal(f.BloomFilter()))
}

// The file is made where the links lead, and the links stay.
func TestSaveThroughALink(t *testing.T) {
	dir, far := testkit.TempDir(t), testkit.TempDir(t)
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

func TestSaveAndLoadRefuse(t *testing.T) {
	dir := testkit.TempDir(t)
	path, mapped := filepath.Join(dir, "f"), filepath.Join(dir, "mapped")
	require.NoError(t, Save(path, filterWith("a")))
	require.ErrorIs(t, Save(path, bloom.MustNew(1000, 0.01, bloom.WithHash(bloom.MapHash))), bloom.ErrNotPortable)
	require.True(t, loaded(t, path).ContainsString("a"), "the old file is there")
	require.EqualError(t, Save(dir, filterWith("a")), fmt.Sprintf("persist: save %q: is a directory, want a regular file", dir))
	require.EqualError(t, Save("", filterWith("a")), `persist: save "": invalid argument: want the name of a file`)
	require.ErrorIs(t, Save(filepath.Join(dir, "no", "f"), filterWith("a")), fs.ErrNotExist)
	require.Error(t, Save(filepath.Join(path, "f"), filterWith("a")), "in a file that is no folder")

	openFile(t, mapped, 1000, 1e-6)
	err := Save(mapped, filterWith("a"))
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, "it is a mapped filter")
	requireNoLeftover(t, path)

	_, err = Load(path, bloom.WithMaxBytes(10))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o666))
	_, err = Load(path)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, strconv.Quote(path))
}

// TestLongNames: a file has any name that the system takes, also one that leaves no room for the end of
// a temporary one.
func TestLongNames(t *testing.T) {
	dir := testkit.TempDir(t)
	for _, letter := range []string{"x", "é", "日", "🙂"} {
		for most := range 40 {
			name := strings.Repeat(letter, (255-most)/len(letter))
			if runtime.GOOS == "windows" && len(dir)+len(name)+40 > 260 { // some versions limit the whole path
				continue
			}
			temp := filepath.Base(tempName(filepath.Join(dir, name)))
			require.True(t, len(temp) <= 255 && utf8.ValidString(temp), temp)
			is, err := filepath.Match(temporary, temp)
			require.True(t, is, "%q, %v", temp, err)
			if most%28 > 0 { // the length of the end
				continue
			}
			path := filepath.Join(dir, name)
			require.NoError(t, Save(path, filterWith("a")), "%d bytes", len(name))
			require.NoError(t, Save(path, filterWith("b")), "%d bytes", len(name))
			require.True(t, loaded(t, path).ContainsString("b"))
		}
	}
	requireNoLeftover(t, filepath.Join(dir, "x"))
}

// Load takes little more memory than the filter.
func TestLoadMemory(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	f := bloom.MustNew(8_000_000, 0.01)
	require.NoError(t, Save(path, f))
	var err error
	got := testkit.Allocated(func() { _, err = Load(path) })
	require.NoError(t, err)
	require.Less(t, got, f.SizeBytes()+f.SizeBytes()/20)
}

// Each Save takes files and threads of the system, so their number is limited.
func TestManySaves(t *testing.T) {
	dir := testkit.TempDir(t)
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
	var wg testkit.Group
	for i := range cap(writers) + 16 {
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

// childSaveOnce saves to the paths. Errors say "late" if WriteTo was called.
func childSaveOnce(args []string) (err error) {
	for _, path := range args {
		called := false
		failed := Save(path, writerTo(func(w io.Writer) (int64, error) {
			called = true
			return filterWith("by another user").WriteTo(w)
		}))
		if called && failed != nil {
			failed = fmt.Errorf("late: %w", failed)
		}
		err = errors.Join(err, failed)
	}
	return err
}
