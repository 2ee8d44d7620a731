package persist

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/stretchr/testify/require"
)

var custom = bloom.NewStrategy("textbook", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })})

// The file answers as the filter in memory does, before and after it is reopened,
// for every way to place the bits.
func TestFileIsTheFilter(t *testing.T) {
	const n, p = 2000, 0.001
	for name, opts := range map[string][]bloom.Option{
		"default":         nil,
		"seed":            {bloom.WithSeed(7)},
		"rapid":           {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7)},
		"key":             {bloom.WithKey([16]byte{1, 2, 3})},
		"blocked":         {bloom.WithStrategy(bloom.Blocked)},
		"blocked and key": {bloom.WithStrategy(bloom.Blocked), bloom.WithKey([16]byte{1, 2, 3})},
		"blocked 1":       {bloom.WithStrategy(bloom.Blocked1)},
		"blocked 8":       {bloom.WithStrategy(bloom.Blocked8)},
		"split block":     {bloom.WithStrategy(bloom.SplitBlock)},
		"seeded":          {bloom.WithStrategy(bloom.SeededHashing)},
		"guava 32":        {bloom.WithStrategy(guava.Mitz32)},
		"guava 64":        {bloom.WithStrategy(guava.Mitz64)},
		"bitsandblooms":   {bloom.WithStrategy(bitsandblooms.Strategy)},
		"custom":          {bloom.WithStrategy(custom)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "f")
			want := bloom.MustNew(n, p, opts...)
			f, err := Open(path, n, p, opts...)
			require.NoError(t, err)
			for i := range uint64(n) {
				k, added := key(i), false
				if i%2 == 0 {
					added = f.Add(k)
				} else {
					added = f.AddString(string(k))
				}
				if added != want.Add(k) {
					t.Fatalf("Add of key %d: %v", i, added)
				}
			}
			require.NoError(t, f.Sync())

			compare := func(f *File) {
				t.Helper()
				for i := range uint64(3 * n) {
					k := key(i)
					if got := f.Contains(k); got != want.Contains(k) || got != f.ContainsString(string(k)) {
						t.Fatalf("Contains of key %d: %v", i, got)
					}
				}
				require.Equal(t, want.Params(), f.Params())
				require.Equal(t, want.Scheme().Identity(), f.Scheme().Identity())
				require.Equal(t, want.SizeBytes(), f.SizeBytes())
				require.Equal(t, want.Stats(), f.Stats())
				require.True(t, want.Equal(f.Snapshot()))
			}
			compare(f)
			require.NoError(t, f.Close())

			again, err := Open(path, n, p, opts...)
			require.NoError(t, err)
			compare(again)
			readOnly, err := OpenReadOnly(path, opts...)
			require.NoError(t, err)
			compare(readOnly)

			// They share the bits.
			require.True(t, again.AddString("a key that comes later"))
			require.True(t, readOnly.ContainsString("a key that comes later"))

			var written, expected bytes.Buffer
			_, err = again.WriteTo(&written)
			require.NoError(t, err)
			want.AddString("a key that comes later")
			_, err = want.WriteTo(&expected)
			require.NoError(t, err)
			require.Equal(t, expected.Bytes(), written.Bytes())
			require.NoError(t, again.Close())
			require.NoError(t, readOnly.Close())
			requireNoLeftover(t, path)
		})
	}
}

func requireNoLeftover(t *testing.T, path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+unfinished+"*"))
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestBatches(t *testing.T) {
	f := openFile(t, filepath.Join(tempDir(t), "f"), 1000, 1e-6)
	var keys, others [][]byte
	for i := range uint64(500) {
		keys = append(keys, key(i))
		others = append(others, key(250+i))
	}
	added := make([]bool, len(keys))
	require.Equal(t, 500, f.AddMany(keys, added))
	require.NotContains(t, added, false)
	require.Equal(t, 250, f.AddMany(others, added))
	require.Equal(t, added[:250], make([]bool, 250))
	require.Equal(t, 500, f.ContainsMany(keys, nil))
	require.Equal(t, 500, f.ContainsMany(others, nil))
}

func TestUnionAndSnapshot(t *testing.T) {
	f := openFile(t, filepath.Join(tempDir(t), "f"), 1000, 1e-6)
	f.AddString("file")
	before := f.Snapshot()

	memory, err := f.Scheme().Filter()
	require.NoError(t, err)
	memory.AddString("memory")
	require.NoError(t, f.Union(memory))
	require.True(t, f.ContainsString("memory"))
	require.False(t, before.ContainsString("memory"), "a snapshot is a copy")
	require.ErrorIs(t, f.Union(bloom.MustNew(2000, 1e-6)), bloom.ErrIncompatible)

	// The copy neither sees nor changes the file, and outlives it.
	before.AddString("copy")
	require.False(t, f.ContainsString("copy"))
	require.NoError(t, f.Close())
	require.True(t, before.ContainsString("file"))
}

func TestAllocations(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED: allocations, for the race detector has its own")
	}
	f := openFile(t, filepath.Join(tempDir(t), "f"), 100_000, 0.01)
	i := uint64(0)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		var k [8]byte // on the stack, and stays there
		k[0], k[1] = byte(i), byte(i>>8)
		i++
		f.Add(k[:])
		f.Contains(k[:])
		f.AddString("key")
		f.ContainsString("key")
	}))
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	made := openFile(t, path, 1000, 0.01)
	made.AddString("key")
	require.NoError(t, made.Close())
	if runtime.GOOS != "windows" { // where this makes a file that nobody can remove
		require.NoError(t, os.Chmod(path, 0o444))
	}
	f, err := OpenReadOnly(path)
	require.NoError(t, err)
	require.True(t, f.ContainsString("key"))
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	for op, call := range map[string]func(){
		"Add":       func() { f.Add([]byte("x")) },
		"AddString": func() { f.AddString("x") },
		"AddMany":   func() { f.AddMany([][]byte{{1}}, nil) },
	} {
		require.PanicsWithError(t, fmt.Sprintf("persist: %s on %q: file is open read-only", op, path), call)
	}
	require.ErrorIs(t, f.Union(bloom.MustNew(1000, 0.01)), ErrReadOnly)
	require.ErrorIs(t, f.Sync(), ErrReadOnly, "it cannot do what it promises")
	require.NoError(t, f.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// The pages themselves refuse to be written to: no bug above could change them.
func TestReadOnlyMappingIsProtected(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	openFile(t, path, 1000, 0.01)
	f, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.file.Write([]byte("x"))
	require.Error(t, err, "the file itself is open for reading")
	require.True(t, faults(func() { f.mapping.Load().data[headerSize] = 1 }))
}

func TestUseAfterClose(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	f, err := Open(path, 1000, 0.01)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for op, call := range map[string]func(){
		"Add":            func() { f.Add(nil) },
		"AddString":      func() { f.AddString("") },
		"AddMany":        func() { f.AddMany(nil, nil) },
		"Contains":       func() { f.Contains(nil) },
		"ContainsString": func() { f.ContainsString("") },
		"ContainsMany":   func() { f.ContainsMany(nil, nil) },
		"Snapshot":       func() { f.Snapshot() },
		"Stats":          func() { f.Stats() },
	} {
		require.PanicsWithError(t, fmt.Sprintf("persist: %s on %q: file already closed", op, path), call)
	}
	require.ErrorIs(t, f.Sync(), os.ErrClosed)
	require.ErrorIs(t, f.Close(), os.ErrClosed)
	require.ErrorIs(t, f.Union(bloom.MustNew(1000, 0.01)), os.ErrClosed)
	_, err = f.WriteTo(&bytes.Buffer{})
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualValues(t, 1000, f.Params().N, "what needs no mapping goes on")
	require.Contains(t, f.String(), strconv.Quote(path))
}
