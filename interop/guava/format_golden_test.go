package guava

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "let Guava write the golden files in testdata")

// goldenCases are small filters, one for each funnel and strategy, of the first keys of
// set 0, which are the special ones.
func goldenCases() (list []oracleCase) {
	for _, funnel := range slices.Sorted(maps.Keys(funnels)) {
		keys, probes := feed(funnel, keysFor(funnel, 0, 40)), feed(funnel, keysFor(funnel, 2, 1000))
		for strategy := range 2 {
			name := fmt.Sprintf("%s-mitz%d", funnel, 32+32*strategy)
			list = append(list, oracleCase{name, strategy, 40, 0.01, funnel, keys, keys, probes})
		}
	}
	return list
}

func goldenFile(c oracleCase) string { return filepath.Join("testdata", c.name+".bloom") }

// TestGolden compares with what Guava has written once, without a JVM.
func TestGolden(t *testing.T) {
	for _, c := range goldenCases() {
		data, err := os.ReadFile(goldenFile(c))
		require.NoError(t, err)
		f, err := Read(bytes.NewReader(data))
		require.NoError(t, err)
		for _, key := range c.keys.fed {
			require.True(t, f.Contains(key), "%s: %q", c.name, key)
		}
		require.Equal(t, data, guavaFormat.Bytes(t, f), c.name)
		made := c.filter(t, since(Since33_4))
		c.keys.add(made)
		require.Equal(t, data, guavaFormat.Bytes(t, made), c.name)
	}
}

// golden checks that Guava still writes the golden files, or lets it do so.
func (o *oracle) golden(t *testing.T) {
	cases := goldenCases()
	o.prepare(cases)
	o.run("make")
	for _, c := range cases {
		data := o.read(c.name + ".java")
		if *update {
			require.NoError(t, os.WriteFile(goldenFile(c), data, 0o644))
		}
		want, err := os.ReadFile(goldenFile(c))
		require.NoError(t, err)
		require.Equal(t, want, data, c.name)
	}
}
