package view

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// BenchmarkView compares lookups in a view and in the filter with the same bits, in cache.
func BenchmarkView(b *testing.B) {
	for _, s := range strategies[1:] {
		for _, hash := range conformance.Hashes() {
			const n = 10_000
			built, err := NewWriter(10, s, bloom.WithHash(hash))
			if err != nil {
				continue // not portable
			}
			var keys [][]byte
			for i := range 4096 {
				keys = append(keys, fmt.Appendf(nil, "some key of some length, number %08d", i*n/4096*2))
			}
			for i := range n {
				built.Add(fmt.Appendf(nil, "some key of some length, number %08d", i))
			}
			data := built.AppendTo(nil)
			m := uint64(len(data)-trailerBytes) * 8
			f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: m, K: built.scheme.Params().K}, bloom.WithStrategy(s), bloom.WithHash(hash)))
			require.NoError(b, err)
			for i := range n {
				f.Add(fmt.Appendf(nil, "some key of some length, number %08d", i))
			}
			v, err := Parse(data)
			require.NoError(b, err)
			over, err := Over(f.Scheme(), append(data[:m/8:m/8], make([]byte, f.SizeBytes()-m/8)...))
			require.NoError(b, err)
			run := func(of string, ask func(i int) bool) {
				b.Run(fmt.Sprintf("strategy=%s/hash=%s/of=%s", s, hash, of), func(b *testing.B) {
					for i := 0; b.Loop(); i++ {
						ask(i % len(keys))
					}
				})
			}
			run("filter", func(i int) bool { return f.Contains(keys[i]) })
			run("view", func(i int) bool { return v.Contains(keys[i]) })
			run("over", func(i int) bool { return over.Contains(keys[i]) })
			run("view,new", func(i int) bool { v, err := Parse(data); return err != nil || v.Contains(keys[i]) })
		}
	}
}

// BenchmarkBuild makes a filter of 30,000 keys with 10 bits each from digests that are ready. A key takes ns/key.
func BenchmarkBuild(b *testing.B) {
	const n = 30_000
	digests := make([][2]uint64, n)
	for i := range digests {
		digests[i][0], digests[i][1] = bloom.Digest64(uint64(i))
	}
	for _, s := range strategies[1:] {
		built, err := NewWriter(10, s)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("strategy=%s", s), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				one := *built
				for _, d := range digests {
					one.AddDigest(d[0], d[1])
				}
				one.AppendTo(nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}
