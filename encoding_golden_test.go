package bloom

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden returns the golden file of a filter. With -update it writes those that
// are missing, and no other.
func golden(t testing.TB, name string, f *BloomFilter) []byte {
	path := filepath.Join("testdata", name+".bloom")
	data, err := os.ReadFile(path)
	if *update && errors.Is(err, fs.ErrNotExist) {
		data = marshal(t, f)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		return data
	}
	require.NoError(t, err)
	return data
}

// TestGoldenFiles: bytes that were written once are what is written today, on every
// architecture, and are read as the filter that they were. A difference breaks every
// file: mend the code, never the golden.
func TestGoldenFiles(t *testing.T) {
	filters := portables(t)
	for name, p := range filters {
		data := golden(t, name, p.f)
		require.True(t, bytes.Equal(data, marshal(t, p.f)), name)
		f, err := Read(bytes.NewReader(data), p.opts...)
		require.NoError(t, err, name)
		same(t, p.f, f)
		require.True(t, bytes.Equal(data, marshal(t, f)), name)
	}
	files, err := filepath.Glob("testdata/*.bloom")
	require.NoError(t, err)
	require.Len(t, files, len(filters), "a golden file of no filter")
}

// portables are filters of every strategy and hash that can be written, with up to
// 100 keys each, of a few hundred bytes. They are what is in the golden files.
func portables(t testing.TB) map[string]portable {
	all := map[string]portable{}
	add := func(name string, params Params, keys uint64, opts, needed []Option) {
		f, err := NewWithParams(params, append(opts, needed...)...)
		require.NoError(t, err)
		addKeys(f, keys)
		all[name] = portable{f, needed}
	}
	for _, s := range allStrategies {
		params := Params{N: 100, P: 0.01, M: 961, K: 7}
		if inBlocks(s) {
			params.M, params.K = 1024, 8
		}
		opts, needed := []Option{WithStrategy(s)}, []Option(nil)
		if s.get().custom {
			opts, needed = nil, opts
		}
		add(s.Name(), params, 100, opts, needed)
		add(s.Name()+"-seed", params, 100, append(opts, WithSeed(1<<63+42)), needed)
		if !s.NeedsKey() {
			add(s.Name()+"-key", params, 100, opts, append(needed, WithKey(testKey)))
		}
	}
	add("own-hash", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, nil, []Option{WithHash(customHash)})
	add("own-hash-64", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithStrategy(Blocked2)}, []Option{WithHash(customHash64)})
	add("rapid-hash", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithHash(RapidHash), WithStrategy(SplitBlock)}, nil)
	add("rapid-hash-seed", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, []Option{WithHash(RapidHash), WithSeed(1<<63 + 42)}, nil)
	add("k64", Params{M: 2048, K: 64}, 20, nil, nil)
	add("one-bit", Params{M: 1, K: 1, N: 1<<64 - 1, P: 1e-300}, 1, nil, nil)
	add("empty", Params{M: 65, K: 3}, 0, nil, nil)
	return all
}

// portable is a filter, and the options that are needed to read it.
type portable struct {
	f    *BloomFilter
	opts []Option
}
