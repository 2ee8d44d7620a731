package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchLines returns short lines, of which some are repeated.
func benchLines(n int, format string) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, format, rng.IntN(n*2/3))
	}
	return text.String()
}

// BenchmarkDedup: lines a second, with -cpu 1,2 on one core and on two.
func BenchmarkDedup(b *testing.B) {
	const lines = 2_000_000
	for name, format := range map[string]string{"short": "%d\n", "urls": "https://www.example.com/articles/%d.html?from=here\n"} {
		text := benchLines(lines, format)
		for _, strategy := range []string{"default", "blocked", "double-hashing"} {
			b.Run("lines="+name+"/strategy="+strategy, func(b *testing.B) {
				args := []string{"dedup"}
				if strategy != "default" {
					args = append(args, "-s", strategy)
				}
				var errs bytes.Buffer
				for b.Loop() {
					if status := run(args, strings.NewReader(text), io.Discard, &errs); status != statusFound {
						b.Fatal(errs.String())
					}
				}
				b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
