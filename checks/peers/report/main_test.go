package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReport takes the smallest time, leaves the figures of other vendors, and refuses a batch or a hash that is slower
// than a lookup.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	const sound = "cpu: Fast(R) CPU\nBenchmarkFilter/filter=ours:SplitBlock,RapidHash/op=mixed/goroutines=1 100 5 ns/op\n" +
		"BenchmarkFilter/filter=ours:SplitBlock,RapidHash/op=mixed/goroutines=1 100 4 ns/op\n" +
		"BenchmarkFilter/filter=ours:SplitBlock,RapidHash,batch/op=mixed/goroutines=1 100 4.2 ns/op\n" +
		"BenchmarkFilter/filter=ours:DoubleHashing,Murmur3/op=mixed/goroutines=1-2 100 16 ns/op\n" +
		"BenchmarkFilter/filter=hash:RapidHash/op=mixed/goroutines=1 100 3 ns/op\n"
	m, err := read(path("sound.txt", sound))
	require.NoError(t, err)
	require.NoError(t, m.contradictions())
	doc := path("doc.md", "on <!-- machine Fast -->none<!-- end -->\n<!-- table Fast Filter: mixed, add -->\nold\n<!-- end -->\n"+
		"on <!-- machine Slow -->a vendor's that is not at hand<!-- end -->\n<!-- table Slow Filter: mixed, add -->\nkept\n<!-- end -->\n")
	require.NoError(t, m.fillIn(doc))
	text, err := os.ReadFile(doc)
	require.NoError(t, err)
	require.Contains(t, string(text), "on <!-- machine Fast -->Fast CPU"+model()+", ")
	require.NotContains(t, string(text), "old")
	require.Contains(t, string(text), "a vendor's that is not at hand<!-- end -->\n<!-- table Slow Filter: mixed, add -->\nkept\n")
	require.Contains(t, string(text), "| **SplitBlock, RapidHash** | 4.0 | – |\n| **SplitBlock, RapidHash, batch** | 4.2 | – |\n")
	require.NotContains(t, string(text), "RapidHash alone")

	for _, slow := range []string{"ours:SplitBlock,RapidHash,batch", "hash:RapidHash"} {
		other := "BenchmarkFilter/filter=" + slow + "/op=hit/goroutines=1 100 8 ns/op\nBenchmarkFilter/filter=ours:SplitBlock,RapidHash/op=hit/goroutines=1 100 5 ns/op\n"
		m, err := read(path("contradiction.txt", sound+other))
		require.NoError(t, err)
		require.ErrorContains(t, m.contradictions(), slow)
	}
}
