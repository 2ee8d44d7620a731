package persist

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/stretchr/testify/require"
)

// customStrategy is the textbook's double hashing; it calls hook for each bit.
func customStrategy(name string, hook func()) bloom.Strategy {
	return bloom.NewStrategy(name, bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		hook()
		return (h1 + uint64(i)*h2) % m
	})})
}

var custom = customStrategy("textbook", func() {})

// A file answers as the filter in memory does, before and after it is reopened. To reopen it needs
// only the options that the header cannot have.
func TestFileIsTheFilter(t *testing.T) {
	const n, p = 1000, 0.001
	strategy := bloom.WithStrategy
	all := func(opts ...bloom.Option) []bloom.Option { return opts }
	for name, test := range map[string]struct{ made, needed []bloom.Option }{
		"default":     {nil, nil},
		"rapid, seed": {all(bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7)), nil},
		"key":         {all(bloom.WithSecret([16]byte{1, 2})), all(bloom.WithSecret([16]byte{1, 2}))},
		"blocked":     {all(strategy(bloom.Blocked), bloom.WithSeed(7)), nil},
		"split block": {all(strategy(bloom.SplitBlock)), nil},
		"seeded":      {all(strategy(bloom.SeededHashing), bloom.WithSeed(5)), nil},
		"guava":       {all(strategy(guava.Mitz64)), all(strategy(guava.Mitz64))},
		"custom":      {all(strategy(custom), bloom.WithSeed(3)), all(strategy(custom))},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(testkit.TempDir(t), "f")
			_, err := OpenExisting(path, test.made...)
			require.ErrorIs(t, err, fs.ErrNotExist)
			want := bloom.MustNew(n, p, test.made...)
			f := openFile(t, path, n, p, test.made...)
			var rest [][]byte
			for i := range uint64(n) {
				k := key(i)
				switch i % 4 {
				case 0:
					require.Equal(t, want.Add(k), f.Add(k))
				case 1:
					require.Equal(t, want.Add(k), f.AddString(string(k)))
				default:
					rest = append(rest, k)
				}
			}
			added, expected := make([]bool, len(rest)), make([]bool, len(rest))
			require.Equal(t, want.AddMany(rest, expected), f.AddMany(rest, added))
			require.Equal(t, expected, added)
			require.NoError(t, f.Sync())
			require.NoError(t, f.Close())

			again := openFile(t, path, n, p, test.made...)
			existing, err := OpenExisting(path, test.needed...)
			require.NoError(t, err)
			readOnly, err := OpenReadOnly(path, test.needed...)
			require.NoError(t, err)
			require.Equal(t, want.AddString("later"), existing.AddString("later"))
			for _, f := range []*File{again, existing, readOnly} {
				for i := range uint64(3 * n) {
					k := key(i)
					if got := f.Contains(k); got != want.Contains(k) || got != f.ContainsString(string(k)) {
						t.Fatalf("Contains of key %d: %v", i, got)
					}
				}
				require.Equal(t, want.ContainsMany(rest, nil), f.ContainsMany(rest, nil))
				require.True(t, f.ContainsString("later"), "they share the bits")
				require.Equal(t, want.Params(), f.Scheme().Params())
				require.Equal(t, want.Scheme().String(), f.Scheme().String())
				require.Equal(t, want.Stats(), f.Stats())
				require.True(t, want.Equal(f.BloomFilter()))
				var written, expected bytes.Buffer
				_, err = f.WriteTo(&written)
				require.NoError(t, err)
				_, err = want.WriteTo(&expected)
				require.NoError(t, err)
				require.Equal(t, expected.Bytes(), written.Bytes())
				require.NoError(t, f.Close())
			}
			_, err = OpenExisting(path, append(test.made, bloom.WithMaxBytes(64))...)
			require.ErrorIs(t, err, bloom.ErrTooLarge)
			if test.needed != nil {
				_, err = OpenExisting(path)
				require.ErrorIs(t, err, bloom.ErrIncompatible)
			}
			requireNoLeftover(t, path)
		})
	}
}

// TestDigests: a digest stands for its key.
func TestDigests(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	f := openFile(t, path, 1000, 0.01)
	h1, h2 := f.Scheme().Digest([]byte("key"))
	require.False(t, f.ContainsDigest(h1, h2))
	require.True(t, f.AddDigest(h1, h2))
	require.True(t, f.ContainsDigest(h1, h2) && f.ContainsString("key") && !f.AddString("key"))
	require.Equal(t, f.Scheme().SizeBytes(), f.SizeBytes())
}

func TestUnionAndBloomFilter(t *testing.T) {
	f := openFile(t, filepath.Join(testkit.TempDir(t), "f"), 1000, 1e-6)
	f.AddString("file")
	before := f.BloomFilter()
	memory, err := f.Scheme().Filter()
	require.NoError(t, err)
	memory.AddString("memory")
	require.NoError(t, f.Union(memory))
	require.True(t, f.ContainsString("memory"))
	require.False(t, before.ContainsString("memory"), "a snapshot is a copy")
	require.ErrorIs(t, f.Union(bloom.MustNew(2000, 1e-6)), bloom.ErrIncompatible)

	before.AddString("copy")
	require.False(t, f.ContainsString("copy"))
	require.NoError(t, f.Close())
	require.True(t, before.ContainsString("file"))
}

func TestAllocations(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED: allocations, because the race detector has its own")
	}
	f := openFile(t, filepath.Join(testkit.TempDir(t), "f"), 100_000, 0.01)
	i := uint64(0)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		var k [8]byte // stays on the stack
		k[0], k[1] = byte(i), byte(i>>8)
		i++
		f.Add(k[:])
		f.Contains(k[:])
		f.AddString("key")
		f.ContainsString("key")
	}))
}

// requireRefused checks that calls panic with the text of err, which names the file.
func requireRefused(t *testing.T, path string, err error, calls map[string]func()) {
	t.Helper()
	for op, call := range calls {
		require.PanicsWithError(t, fmt.Sprintf("persist: %s %q: %v", op, path, err), call)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	made := openFile(t, path, 1000, 0.01)
	made.AddString("key")
	require.NoError(t, made.Close())
	if runtime.GOOS != "windows" { // Windows could not remove it
		require.NoError(t, os.Chmod(path, 0o444))
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := OpenReadOnly(path)
	require.NoError(t, err)
	require.True(t, f.ContainsString("key"))
	requireRefused(t, path, errReadOnly, map[string]func(){
		"Add":       func() { f.Add([]byte("x")) },
		"AddString": func() { f.AddString("x") },
		"AddMany":   func() { f.AddMany([][]byte{{1}}, nil) },
		"AddDigest": func() { f.AddDigest(1, 2) },
	})
	require.ErrorIs(t, f.Union(bloom.MustNew(1000, 0.01)), fs.ErrPermission)
	require.ErrorIs(t, f.Sync(), fs.ErrPermission)

	// The pages themselves cannot be written to.
	_, err = f.file.Write([]byte("x"))
	require.Error(t, err)
	require.True(t, faults(func() { f.mapping.Load().data[headerSize] = 1 }))
	require.NoError(t, f.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestZeroValues(t *testing.T) {
	zero.Values(t, new(File), new(List))
	_, err := json.Marshal(map[string]*File{"seen": new(File)})
	require.ErrorContains(t, err, "has no text form: use BloomFilter")
}

// After Close, each method returns an error that wraps os.ErrClosed, or panics with one, except the methods that
// describe the file or refuse to encode it.
func TestUseAfterClose(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	f := openFile(t, path, 1000, 0.01)
	require.NoError(t, f.Close())
	methods := reflect.ValueOf(f)
	for i := range methods.NumMethod() {
		method, name := methods.Method(i).Type(), methods.Type().Method(i).Name
		args := make([]reflect.Value, method.NumIn())
		for j := range args {
			args[j] = reflect.Zero(method.In(j))
		}
		var got any
		func() {
			defer func() { got = cmp.Or(recover(), got) }()
			out := methods.Method(i).Call(args)
			got = out[len(out)-1].Interface()
		}()
		switch {
		case slices.Contains([]string{"Scheme", "String", "LogValue"}, name), strings.Contains(name, "arshal"):
			require.NotErrorIs(t, asError(got), os.ErrClosed, name)
		default:
			require.ErrorIs(t, asError(got), os.ErrClosed, name)
			require.EqualError(t, asError(got), fmt.Sprintf("persist: %s %q: %v", name, path, os.ErrClosed))
		}
	}
	require.EqualValues(t, 1000, f.Scheme().Params().N)
	require.Contains(t, f.String(), strconv.Quote(path)+" n=")
}

func asError(v any) error { err, _ := v.(error); return err }
