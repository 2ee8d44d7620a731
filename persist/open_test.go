package persist

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

func TestBadArguments(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	for _, test := range []struct {
		n    uint64
		p    float64
		opt  bloom.Option
		is   error
		text string
	}{
		{1, math.NaN(), bloom.WithSeed(0), bloom.ErrInvalid, "p = NaN"},
		{1000, 0.1, bloom.WithHash(bloom.MapHash), bloom.ErrNotPortable, "maphash"},
		{1000, 0.1, bloom.WithStrategy(customStrategy("", func() {})), bloom.ErrNotPortable, "name"},
		{1 << 62, 0.1, bloom.WithSeed(0), bloom.ErrTooLarge, "4611686018427387904"},
		{1000, 0.1, bloom.WithMaxBytes(100), bloom.ErrTooLarge, "want at most 100"},
	} {
		_, err := Open(path, test.n, test.p, test.opt)
		require.ErrorIs(t, err, test.is)
		require.ErrorContains(t, err, test.text)
		require.NoFileExists(t, path)
	}
	requireNoLeftover(t, path)
	_, err := Open("", 1000, 0.1)
	require.EqualError(t, err, `persist: create "": invalid argument: want the name of a file`)
	_, err = Open(filepath.Join(path, "no folder", "f"), 1000, 0.1)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// The error for a file of other parameters names what the file has and what the caller wants.
func TestOtherParameters(t *testing.T) {
	key, seed := bloom.WithSecret([16]byte{1}), bloom.WithSeed(0x55)
	files := map[string][]bloom.Option{"plain": nil, "keyed": {key}, "seeded": {seed}}
	dir := testkit.TempDir(t)
	for name, opts := range files {
		openFile(t, filepath.Join(dir, name), 1000, 0.01, opts...)
	}
	all := func(opts ...bloom.Option) []bloom.Option { return opts }
	for _, test := range []struct {
		file  string
		n     uint64
		p     float64
		opts  []bloom.Option
		texts []string
	}{
		{"plain", 1001, 0.01, nil, []string{"n = 1000", "n = 1001"}},
		{"plain", 1000, 0.02, nil, []string{"p = 0.01", "p = 0.02"}},
		{"plain", 1000, 0.01, all(seed), []string{"seed is 0", "want 85"}},
		{"plain", 1000, 0.01, all(key), []string{"murmur3", "given one"}},
		{"plain", 1000, 0.01, all(bloom.WithStrategy(custom)), []string{`"double-hashing"`, `"textbook"`}},
		{"seeded", 1000, 0.01, nil, []string{"murmur3:0000000000000055", "murmur3:0000000000000000"}},
		{"keyed", 1000, 0.01, nil, []string{"siphash", "WithSecret"}},
		{"keyed", 1000, 0.01, all(bloom.WithSecret([16]byte{2})), []string{"another secret"}},
	} {
		path := filepath.Join(dir, test.file)
		_, err := Open(path, test.n, test.p, test.opts...)
		require.ErrorIs(t, err, bloom.ErrIncompatible)
		for _, text := range test.texts {
			require.ErrorContains(t, err, text)
		}
		if test.opts != nil {
			_, err = OpenReadOnly(path, test.opts...)
			require.ErrorIs(t, err, bloom.ErrIncompatible)
		}
	}
}

// An error has one prefix, and a name in it is quoted.
func TestErrorTexts(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "\x1b[2J")
	if runtime.GOOS == "windows" {
		dir = filepath.Join(testkit.TempDir(t), "f") // no name has such characters there
	}
	require.NoError(t, os.Mkdir(dir, 0o777))
	path := filepath.Join(dir, "f")
	require.NoError(t, Save(path, filterWith("a")))
	mapped := openFile(t, path+".map", 1000, 0.01)
	require.NoError(t, mapped.Close())
	fails := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Load no file":         fails(Load(path + ".no")),
		"open no file":         fails(OpenReadOnly(path + ".no")),
		"open below a file":    fails(Open(filepath.Join(path, "f"), 1000, 0.01)),
		"bad p":                fails(Open(path+".no", 1000, 2)),
		"another seed":         fails(Load(path, bloom.WithSeed(1))),
		"save over a folder":   Save(dir, filterWith("a")),
		"save without folder":  Save(filepath.Join(dir, "no", "f"), filterWith("a")),
		"close a closed file":  mapped.Close(),
		"sync of a closed one": mapped.Sync(),
	} {
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\x1b")
		require.Regexp(t, `^persist: [A-Za-z]+ ".*": `, err.Error())
		require.NotContains(t, err.Error(), "bloom: ")
		if strings.HasSuffix(name, "no file") {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
}
