package persist

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
)

// A filter is what the file and the memory have in common.
type filter interface {
	Add(key []byte) bool
	Contains(key []byte) bool
	Stats() bloom.Stats
}

func benchmarkBoth(b *testing.B, work func(b *testing.B, f filter, n uint64)) {
	for _, n := range []uint64{10_000, 10_000_000} {
		for _, strategy := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
			for _, where := range []string{"memory", "file"} {
				b.Run(fmt.Sprintf("n=%d/strategy=%s/in=%s", n, strategy, where), func(b *testing.B) {
					if where == "memory" {
						work(b, bloom.MustNew(n, 0.01, bloom.WithStrategy(strategy)), n)
						return
					}
					f, err := Open(filepath.Join(b.TempDir(), "f"), n, 0.01, bloom.WithStrategy(strategy))
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					work(b, f, n)
				})
			}
		}
	}
}

// benchmarkKeys are 40 bytes long; each benchmark goes round in them.
func benchmarkKeys(n uint64) [][]byte {
	keys := make([][]byte, min(n, 1<<20))
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%011d", i)
	}
	return keys
}

// Every key is new in the first n adds, and there afterwards.
func BenchmarkAdd(b *testing.B) {
	benchmarkBoth(b, func(b *testing.B, f filter, n uint64) {
		keys := benchmarkKeys(n)
		f.Stats() // touches every page
		i := 0
		for b.Loop() {
			f.Add(keys[i%len(keys)])
			i++
		}
	})
}

func BenchmarkContains(b *testing.B) {
	benchmarkBoth(b, func(b *testing.B, f filter, n uint64) {
		keys := benchmarkKeys(n)
		for _, k := range keys {
			f.Add(k)
		}
		i := 0
		for b.Loop() {
			if !f.Contains(keys[i%len(keys)]) {
				b.Fatal("lost")
			}
			i++
		}
	})
}

// gibKeys take 1 GiB at 1 %.
const gibKeys = 896_000_000

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	for b.Loop() {
		f, err := Open(path, gibKeys, 0.01)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// The bytes that Save and Load move in a second, for 128 MiB.
func benchmarkSnapshot(b *testing.B, work func(path string, f *bloom.BloomFilter) error) {
	f := bloom.MustNew(gibKeys/8, 0.01)
	for w, words := uint64(0), f.Words(); w < uint64(len(words)); w++ {
		words[w].Store(w * 0x9e3779b97f4a7c15)
	}
	path := filepath.Join(b.TempDir(), "f")
	if err := Save(path, f); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(f.SizeBytes()))
	for b.Loop() {
		if err := work(path, f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	benchmarkSnapshot(b, func(path string, f *bloom.BloomFilter) error { return Save(path, f) })
}

func BenchmarkLoad(b *testing.B) {
	benchmarkSnapshot(b, func(path string, _ *bloom.BloomFilter) error {
		_, err := Load(path)
		return err
	})
}
