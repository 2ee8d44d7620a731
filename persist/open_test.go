package persist

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

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
		{1000, 0.1, []bloom.Option{bloom.WithStrategy(bloom.NewStrategy("", bloom.Definition{Positions: byindex.Positions(doubled)}))}, bloom.ErrNotPortable, "name"},
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
		"rapid, seed 5":  {[]bloom.Option{bloom.WithHash(bloom.RapidHash), bloom.WithSeed(5)}, nil},
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
	check("a snapshot", err)
	check("a folder", Save(dir, filterWith("a")))
	check("no such folder", Save(filepath.Join(dir, "no", "f"), filterWith("a")))
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
	openFile(t, path, 1000, 0.01)
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
