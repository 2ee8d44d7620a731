package persist

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
)

// Lookups of a filter in memory and of a mapped file.
func BenchmarkContains(b *testing.B) {
	keys := make([][]byte, 1<<20)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%011d", i)
	}
	for _, n := range []uint64{10_000, 10_000_000} {
		memory := bloom.MustNew(n, 0.01)
		file := openFile(b, filepath.Join(b.TempDir(), "f"), n, 0.01)
		keys := keys[:min(n, uint64(len(keys)))]
		memory.AddMany(keys, nil)
		file.AddMany(keys, nil)
		for where, f := range map[string]interface{ Contains([]byte) bool }{"memory": memory, "file": file} {
			b.Run(fmt.Sprintf("n=%d/in=%s", n, where), func(b *testing.B) {
				i := 0
				for b.Loop() {
					f.Contains(keys[i%len(keys)])
					i++
				}
			})
		}
	}
}

// gibKeys take 1 GiB at 1 %.
const gibKeys = 896_000_000

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	for b.Loop() {
		if err := openFile(b, path, gibKeys, 0.01).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Save and Load of 128 MiB.
func BenchmarkSnapshot(b *testing.B) {
	f := bloom.MustNew(gibKeys/8, 0.01)
	for i, words := 0, f.Words(); i < len(words); i++ {
		words[i].Store(uint64(i) * 0x9e3779b97f4a7c15)
	}
	path := filepath.Join(b.TempDir(), "f")
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"Save", func() error { return Save(path, f) }},
		{"Load", func() error { _, err := Load(path); return err }},
	} {
		b.Run("call="+c.name, func(b *testing.B) {
			b.SetBytes(int64(f.SizeBytes()))
			for b.Loop() {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
