package view

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// BenchmarkView compares lookups in a view and in the filter with the same bits, in cache.
func BenchmarkView(b *testing.B) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8, bloom.SplitBlock} {
		for _, c := range []struct {
			n    int
			hash bloom.Hash
		}{{100, bloom.Murmur3}, {10_000, bloom.Murmur3}, {100, bloom.RapidHash}, {10_000, bloom.RapidHash}} {
			n := c.n
			built, err := NewBuilder(10, s, bloom.WithHash(c.hash))
			require.NoError(b, err)
			var keys [][]byte
			for i := range 4096 {
				keys = append(keys, fmt.Appendf(nil, "some key of some length, number %08d", i*n/4096*2))
			}
			for i := range n {
				built.Add(fmt.Appendf(nil, "some key of some length, number %08d", i))
			}
			data := built.AppendTo(nil)
			m := uint64(len(data)-trailerBytes) * 8
			f, err := bloom.NewWithParams(bloom.Params{M: m, K: int(built.k)}, bloom.WithStrategy(s), bloom.WithHash(c.hash))
			require.NoError(b, err)
			for i := range n {
				f.Add(fmt.Appendf(nil, "some key of some length, number %08d", i))
			}
			v, err := New(data)
			require.NoError(b, err)
			over, err := Over(f.Scheme(), append(data[:m/8:m/8], make([]byte, f.SizeBytes()-m/8)...))
			require.NoError(b, err)
			digests := make([][2]uint64, len(keys))
			for i, key := range keys {
				digests[i][0], digests[i][1] = f.Digest(key)
			}
			run := func(of string, ask func(i int) bool) {
				b.Run(fmt.Sprintf("strategy=%s/hash=%s/n=%d/of=%s", s, c.hash, n, of), func(b *testing.B) {
					b.ReportAllocs()
					found := 0
					for i := 0; b.Loop(); i++ {
						if ask(i % len(keys)) {
							found++
						}
					}
				})
			}
			run("filter", func(i int) bool { return f.Contains(keys[i]) })
			run("view", func(i int) bool { return v.Contains(keys[i]) })
			run("over", func(i int) bool { return over.Contains(keys[i]) })
			run("view,new", func(i int) bool { v, err := New(data); return err != nil || v.Contains(keys[i]) })
			run("filter,digest", func(i int) bool { return f.ContainsDigest(digests[i][0], digests[i][1]) })
			run("view,digest", func(i int) bool { return v.ContainsDigest(digests[i][0], digests[i][1]) })
		}
	}
}

// BenchmarkViewBuilder builds the filter of a block.
func BenchmarkViewBuilder(b *testing.B) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked2} {
		for _, n := range []int{16, 1000} {
			b.Run(fmt.Sprintf("strategy=%s/n=%d", s, n), func(b *testing.B) {
				b.ReportAllocs()
				built, err := NewBuilder(10, s)
				require.NoError(b, err)
				var buf []byte
				for b.Loop() {
					for i := range n {
						built.AddDigest(bloom.Digest64(uint64(i)))
					}
					buf = built.AppendTo(buf[:0])
				}
			})
		}
	}
}
