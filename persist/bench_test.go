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

// Opening a file of 1 GiB.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	for b.Loop() {
		if err := openFile(b, path, 896_000_000, 0.01).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
