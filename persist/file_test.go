package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/stretchr/testify/require"
)

var custom = bloom.NewStrategy("textbook", bloom.Definition{Index: func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m }})

// The file answers as the filter in memory does, before and after it is reopened,
// for every way to place the bits.
func TestFileIsTheFilter(t *testing.T) {
	const n, p = 2000, 0.001
	for name, opts := range map[string][]bloom.Option{
		"default":         nil,
		"seed":            {bloom.WithSeed(7)},
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
			s := want.Strategy().Name()
			byHash := s != bloom.SeededHashing.Name() && s != bitsandblooms.Strategy.Name()
			for i := range uint64(n) {
				k, added := key(i), false
				switch {
				case i%3 == 0:
					added = f.Add(k)
				case i%3 == 1 && byHash:
					added = f.AddHash(f.Hash(k))
				default:
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
					if byHash {
						if h1, h2 := f.HashString(string(k)); f.ContainsHash(h1, h2) != want.Contains(k) {
							t.Fatalf("ContainsHash of key %d", i)
						}
					}
				}
				require.Equal(t, want.Params(), f.Params())
				require.Equal(t, want.Scheme().Identity(), f.Scheme().Identity())
				require.Equal(t, want.SizeBytes(), f.SizeBytes())
				require.Equal(t, want.FillRatio(), f.FillRatio())
				require.Equal(t, want.EstimatedCount(), f.EstimatedCount())
				require.Equal(t, want.EstimatedFalsePositiveRate(), f.EstimatedFalsePositiveRate())
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
	keys, texts := [][]byte{}, []string{}
	for i := range uint64(500) {
		keys = append(keys, key(i))
		texts = append(texts, string(key(250+i)))
	}
	added := make([]bool, len(keys))
	require.Equal(t, 500, f.AddMany(keys, added))
	require.NotContains(t, added, false)
	require.Equal(t, 250, f.AddManyStrings(texts, added))
	require.Equal(t, added[:250], make([]bool, 250))
	require.Equal(t, 500, f.ContainsMany(keys, nil))
	require.Equal(t, 500, f.ContainsManyStrings(texts, nil))
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
		h1, h2 := f.Hash(k[:])
		f.AddHash(h1, h2)
		f.ContainsHash(h1, h2)
		f.AddString("key")
		f.ContainsString("key")
	}))
}

func TestBadArguments(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	for _, test := range []struct {
		n    uint64
		p    float64
		opts []bloom.Option
		is   error
		text string
	}{
		{1, 1, nil, bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), nil, bloom.ErrInvalid, "p = NaN"},
		{1000, 0.1, []bloom.Option{bloom.WithHash(bloom.MapHash)}, bloom.ErrNotPortable, "maphash"},
		{1000, 0.1, []bloom.Option{bloom.WithStrategy(bloom.NewStrategy("", bloom.Definition{Index: doubled}))}, bloom.ErrNotPortable, "name"},
		{1000, 0.1, []bloom.Option{bloom.WithStrategy(bloom.Strategy{})}, bloom.ErrInvalid, "zero Strategy"},
		{1 << 62, 0.1, nil, bloom.ErrTooLarge, "4611686018427387904"},
		{1000, 0.1, []bloom.Option{bloom.WithMaxBytes(100)}, bloom.ErrTooLarge, "want at most 100"},
	} {
		_, err := Open(path, test.n, test.p, test.opts...)
		require.ErrorIs(t, err, test.is)
		require.ErrorContains(t, err, test.text)
		require.NoFileExists(t, path)
	}
	requireNoLeftover(t, path)

	_, err := Open(filepath.Join(path, "no folder", "f"), 1000, 0.1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = OpenReadOnly(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)
	_, err = Open(filepath.Dir(path), 1000, 0.1)
	require.Error(t, err)
	require.Regexp(t, "directory|no regular file", err.Error())
}

func doubled(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m }

// Each error names what the file has and what was asked for.
func TestOtherParameters(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	keyed, seeded := filepath.Join(tempDir(t), "keyed"), filepath.Join(tempDir(t), "seeded")
	f := openFile(t, path, 1000, 0.01)
	f.AddString("key")
	k, err := Open(keyed, 1000, 0.01, bloom.WithKey([16]byte{1}))
	require.NoError(t, err)
	require.NoError(t, k.Close())
	s, err := Open(seeded, 1000, 0.01, bloom.WithSeed(0x55))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, test := range []struct {
		path  string
		n     uint64
		p     float64
		opts  []bloom.Option
		texts []string
	}{
		{path, 1001, 0.01, nil, []string{"n = 1000", "n = 1001"}},
		{path, 1000, 0.02, nil, []string{"p = 0.01", "p = 0.02"}},
		{path, 1000, 0.01, []bloom.Option{bloom.WithSeed(0x55)}, []string{"seed is 0", "want 85"}},
		{path, 1000, 0.01, []bloom.Option{bloom.WithKey([16]byte{1})}, []string{"murmur3", "given key"}},
		{path, 1000, 0.01, []bloom.Option{bloom.WithStrategy(custom)}, []string{`"double-hashing"`, `"textbook"`}},
		{path, 1000, 0.01, []bloom.Option{bloom.WithStrategy(bloom.SeededHashing)}, []string{`"double-hashing"`, `"seeded-hashing"`}},
		{keyed, 1000, 0.01, nil, []string{"siphash", "WithKey"}},
		{keyed, 1000, 0.01, []bloom.Option{bloom.WithKey([16]byte{2})}, []string{"another secret key"}},
	} {
		_, err := Open(test.path, test.n, test.p, test.opts...)
		require.ErrorIs(t, err, bloom.ErrIncompatible)
		for _, text := range test.texts {
			require.ErrorContains(t, err, text)
		}
		if test.n == 1000 && test.p == 0.01 {
			_, err = OpenReadOnly(test.path, test.opts...)
			require.ErrorIs(t, err, bloom.ErrIncompatible)
			_, err = OpenExisting(test.path, test.opts...)
			require.ErrorIs(t, err, bloom.ErrIncompatible)
		}
	}
	// No seed is a seed to Open, as to New.
	_, err = Open(seeded, 1000, 0.01)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	require.ErrorContains(t, err, "murmur3:0000000000000055")
	require.ErrorContains(t, err, "murmur3:0000000000000000")
	_, err = OpenReadOnly(path, bloom.WithHash(bloom.MapHash))
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	require.True(t, f.ContainsString("key"), "the file is as it was")
}

// What the header says need not be said again.
func TestOpenExisting(t *testing.T) {
	key := [16]byte{7}
	for name, test := range map[string]struct{ made, needed []bloom.Option }{
		"default":        {nil, nil},
		"seed":           {[]bloom.Option{bloom.WithSeed(9)}, nil},
		"blocked":        {[]bloom.Option{bloom.WithStrategy(bloom.Blocked)}, nil},
		"seeded, seed 5": {[]bloom.Option{bloom.WithStrategy(bloom.SeededHashing), bloom.WithSeed(5)}, nil},
		"key":            {[]bloom.Option{bloom.WithKey(key)}, []bloom.Option{bloom.WithKey(key)}},
		"own strategy":   {[]bloom.Option{bloom.WithStrategy(custom), bloom.WithSeed(3)}, []bloom.Option{bloom.WithStrategy(custom)}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "f")
			_, err := OpenExisting(path, test.made...)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NoFileExists(t, path)
			f, err := Open(path, 500, 0.001, test.made...)
			require.NoError(t, err)
			defer f.Close()
			f.AddString("first")

			again, err := OpenExisting(path, test.needed...)
			require.NoError(t, err)
			defer again.Close()
			readOnly, err := OpenReadOnly(path, test.needed...)
			require.NoError(t, err)
			defer readOnly.Close()
			require.True(t, again.AddString("second"))
			for _, file := range []*File{f, again, readOnly} {
				require.Equal(t, f.Scheme().Identity(), file.Scheme().Identity())
				require.Equal(t, f.Params(), file.Params())
				require.True(t, file.ContainsString("first"))
				require.True(t, file.ContainsString("second"))
				require.Equal(t, f.Stats(), file.Stats())
			}
			_, err = OpenExisting(path, append(test.made, bloom.WithMaxBytes(64))...)
			require.ErrorIs(t, err, bloom.ErrTooLarge)
			if test.needed != nil {
				_, err = OpenExisting(path)
				require.ErrorIs(t, err, bloom.ErrIncompatible)
			}
		})
	}
}

// An error has one prefix, and a name in it is quoted.
func TestErrorTexts(t *testing.T) {
	dir := filepath.Join(tempDir(t), "\x1b[2J")
	if runtime.GOOS == "windows" {
		dir = filepath.Join(tempDir(t), "f") // where no name has such characters
	}
	require.NoError(t, os.Mkdir(dir, 0o777))
	path := filepath.Join(dir, "f")
	errs := map[string]error{}
	check := func(what string, err error) {
		require.Error(t, err, what)
		require.NotContains(t, err.Error(), "\x1b", what)
		require.Regexp(t, `^persist: [A-Za-z]+( on)? ".*": `, err.Error(), what)
		require.NotContains(t, err.Error(), "bloom: ", what)
		errs[what] = err
	}
	_, err := Load(path)
	check("no file to load", err)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = OpenReadOnly(path)
	check("no file to open", err)
	_, err = Open(filepath.Join(path, "f"), 1000, 0.01)
	check("no folder", err)
	_, err = Open(path, 1000, 2)
	check("p = 2", err)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.NoError(t, Save(path, filterWith("a")))
	_, err = Load(path, bloom.WithSeed(1))
	check("another seed", err)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	_, err = Open(path, 1000, 0.01)
	check("no mapped filter", err)
	check("a folder", Save(dir, filterWith("a")))
	check("no such folder", Save(filepath.Join(dir, "no", "f"), filterWith("a")))
	require.NoError(t, os.Mkdir(path+unfinished, 0o777))
	check("a folder in the way", Save(path, filterWith("a")))
	require.NoError(t, os.Remove(path+unfinished))
	mapped := openFile(t, path+".map", 1000, 0.01)
	require.NoError(t, mapped.Close())
	check("closed twice", mapped.Close())
	check("Sync after Close", mapped.Sync())
	t.Log(errs)
}

// The words of a mapped file are as one kind of machine has them; another kind must not
// take them for its own.
func TestOtherByteOrder(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	f := openFile(t, path, 1000, 0.01)
	require.Equal(t, path, f.Path())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	order := byte(0)
	if nativeBigEndian {
		order = 1
	}
	require.Equal(t, order, file[orderAt])
	path += ".other"
	require.NoError(t, os.WriteFile(path, resealed(file, func(page []byte) { page[orderAt] ^= 1 }), 0o666))
	_, err = Open(path, 1000, 0.01)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "its words are "+orderName(!nativeBigEndian)+", this machine is "+orderName(nativeBigEndian))
	_, err = OpenReadOnly(path)
	require.ErrorIs(t, err, errors.ErrUnsupported)
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
		"Add":            func() { f.Add([]byte("x")) },
		"AddString":      func() { f.AddString("x") },
		"AddHash":        func() { f.AddHash(1, 2) },
		"AddMany":        func() { f.AddMany([][]byte{{1}}, nil) },
		"AddManyStrings": func() { f.AddManyStrings([]string{"x"}, nil) },
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
		"Add":                        func() { f.Add(nil) },
		"AddString":                  func() { f.AddString("") },
		"AddHash":                    func() { f.AddHash(1, 2) },
		"AddMany":                    func() { f.AddMany(nil, nil) },
		"AddManyStrings":             func() { f.AddManyStrings(nil, nil) },
		"Contains":                   func() { f.Contains(nil) },
		"ContainsString":             func() { f.ContainsString("") },
		"ContainsHash":               func() { f.ContainsHash(1, 2) },
		"ContainsMany":               func() { f.ContainsMany(nil, nil) },
		"ContainsManyStrings":        func() { f.ContainsManyStrings(nil, nil) },
		"Hash":                       func() { f.Hash(nil) },
		"HashString":                 func() { f.HashString("") },
		"Snapshot":                   func() { f.Snapshot() },
		"FillRatio":                  func() { f.FillRatio() },
		"EstimatedCount":             func() { f.EstimatedCount() },
		"EstimatedFalsePositiveRate": func() { f.EstimatedFalsePositiveRate() },
		"Stats":                      func() { f.Stats() },
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
