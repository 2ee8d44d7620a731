package guava

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// sizesOf lets Guava compute sizes, and returns its lines and whose formula it has.
func (o *oracle) sizesOf(sizes string) (lines []string, release Release) {
	o.write("sizes.txt", []byte(sizes))
	o.run("sizes")
	lines = strings.Split(strings.TrimSpace(string(o.read("sizes.java"))), "\n")
	if lines[0] == "old" {
		return lines[1:], Since18
	}
	return lines[1:], Since334
}

// TestAgainstGuava compares with Guava in a JVM, Debian's and the jars that BLOOM_GUAVA_JARS names: bash
// .ci/install guava fetches some and prints the variable.
func TestAgainstGuava(t *testing.T) {
	for _, path := range append([]string{debian}, filepath.SplitList(os.Getenv("BLOOM_GUAVA_JARS"))...) {
		t.Run(filepath.Base(filepath.SplitList(path)[0]), func(t *testing.T) {
			t.Parallel()
			o := newOracle(t, path)
			t.Run("both ways", o.bothWays)
			t.Run("golden", o.golden)
			t.Run("programs", o.programs)
			t.Run("sizes", o.sizes)
			t.Run("beyond 2^31 bits", o.large)
		})
	}
}

// bothWays makes every case in Go and in Java from the same keys. It compares the bytes, the answers of adds
// and lookups, and the estimates. Each side reads the other's filter and adds to it.
func (o *oracle) bothWays(t *testing.T) {
	_, release := o.sizesOf("")
	cases := oracleCases()
	o.prepare(cases)
	o.run("make")
	for _, c := range cases {
		made := c.filter(t, release)
		require.Equal(t, string(o.read(c.name+".added")), c.keys.answers(made.Add), c.name)
		guavaFormat.Golden(t, filepath.Join(o.dir, c.name+".java"), made)
		require.Equal(t, string(o.read(c.name+".answers")), c.probes.answers(made.Contains), c.name)
		estimate := string(o.read(c.name + ".estimate"))
		if _, err := strconv.Atoi(estimate); err == nil && c.strategy == 1 { // not "unknown" to that Guava, or "full"
			require.Equal(t, estimate, fmt.Sprint(made.Stats().EstimatedCount), c.name)
		}
		o.write(c.name+".go", guavaFormat.Bytes(t, made))
	}
	o.checked(t, cases)
}

// checked lets Java read the filters that Go has written, ask them, write them back and add more keys.
func (o *oracle) checked(t *testing.T, cases []oracleCase) {
	o.run("check")
	for _, c := range cases {
		f, err := Read(bytes.NewReader(o.read(c.name + ".go")))
		require.NoError(t, err)
		require.Equal(t, c.probes.answers(f.Contains), string(o.read(c.name+".answers")), c.name)
		guavaFormat.Golden(t, filepath.Join(o.dir, c.name+".back"), f)
		require.Equal(t, c.more.answers(f.Add), string(o.read(c.name+".added")), c.name)
		guavaFormat.Golden(t, filepath.Join(o.dir, c.name+".more"), f)
	}
}

// sizes compares the formulas on n and p of all magnitudes: m in bits before it is rounded, which Go shows in
// words only, k, and what the public create makes or refuses.
func (o *oracle) sizes(t *testing.T) {
	var sizes []bloom.Params
	for _, n := range []uint64{0, 1, 2, 3, 4, 5, 7, 10, 50, 100, 1000, 12_345, 1e6, 1e7, 1e9, math.MaxInt32, 14_000_000_000, 1 << 40, math.MaxInt64} {
		for _, p := range []float64{0.999, 0.9, 0.7, 0.6, 0.5, 0.3, 0.1, 0.05, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-20, 1e-76, 1e-77, 1e-80, 1e-307, 1e-310, 5e-324} {
			sizes = append(sizes, bloom.Params{N: n, P: p})
		}
		for j := range 255 { // k changes at 2^-(j+1/2)
			tie := math.Exp2(-float64(j) - 0.5)
			sizes = append(sizes, bloom.Params{N: n, P: math.Nextafter(tie, 0)}, bloom.Params{N: n, P: tie}, bloom.Params{N: n, P: math.Nextafter(tie, 1)})
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range testkit.Times(20_000, 20_000, 1_000_000) {
		sizes = append(sizes, bloom.Params{N: r.Uint64N(1 << (r.UintN(36) + 1)), P: math.Exp(-math.Exp(r.Float64()*9 - 4))})
	}
	var text strings.Builder
	for _, s := range sizes {
		fmt.Fprintf(&text, "%d %016x\n", s.N, math.Float64bits(s.P))
	}
	lines, release := o.sizesOf(text.String())
	require.Len(t, lines, len(sizes))
	for i, s := range sizes {
		var bits uint64
		var k int
		var create string // of those that are quick: "words,k", or "error"
		_, err := fmt.Sscan(lines[i], &bits, &k, &create)
		require.NoError(t, err)
		got, err := Params(s.N, s.P, release)
		takes := bits > 0 && (bits-1)/64 < math.MaxInt32 && k <= 255
		made := "error"
		if err == nil {
			made = fmt.Sprintf("%d,%d", got.M/64, got.K)
		}
		if takes != (err == nil) || create != "-" && create != made || takes && (got.M != (bits+63)/64*64 || got.K != k) {
			t.Fatalf("n = %d, p = %v: %+v, %v, Guava has %s", s.N, s.P, got, err, lines[i])
		}
	}
}

// large compares filters of 2^31 bits and 2^20 words more. MITZ_32 cannot reach their end. Go makes them,
// because Guava does not.
func (o *oracle) large(t *testing.T) {
	keys, more, probes := keysFor("long", 0, 100_000), keysFor("long", 1, 100_000), keysFor("long", 2, 1_000_000)
	probes.list = append(probes.list, keys.list...)
	var cases []oracleCase
	for strategy := range 2 {
		cases = append(cases, oracleCase{fmt.Sprintf("large-%d", strategy), strategy, 0, 0.5, keys, more, probes})
	}
	o.prepare(cases)
	for _, c := range cases {
		f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 1<<31 + 1<<26, K: 9}, bloom.WithStrategy(strategies[c.strategy])))
		require.NoError(t, err)
		c.keys.answers(f.Add)
		o.write(c.name+".go", guavaFormat.Bytes(t, f))
	}
	o.checked(t, cases)
}

// programs runs the two programs of examples/guava in turn.
func (o *oracle) programs(t *testing.T) {
	source, err := filepath.Abs("../../examples/guava")
	require.NoError(t, err)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	// The command runs here, in this module.
	out, err := exec.Command("go", "build", "-o", program, filepath.Join(source, "main.go")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := func(name string, args ...string) string {
		command := exec.Command(name, args...)
		command.Dir, command.Env = dir, utf8Environment()
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		return string(out)
	}
	java := func(what string) string {
		return run("java", append(quickJava, "-cp", o.classPath, filepath.Join(source, "Bounces.java"), what)...)
	}
	require.Empty(t, java("publish"))
	require.Equal(t, "old@example.com true\njürgen@example.com true\nanna@example.com false\nnew@example.com bounced for the first time\n", run(program))
	require.Equal(t, "true\ntrue\n", java("ask"))
}
