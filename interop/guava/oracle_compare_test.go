package guava

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// parameters returns the formula of the present Guava.
func (o *oracle) parameters() func(uint64, float64) (bloom.Params, error) {
	o.write("sizes.txt", nil)
	o.run("sizes")
	if strings.HasPrefix(string(o.read("sizes.java")), "old") {
		return since(Since18)
	}
	return since(Since33_4)
}

// TestAgainstGuava compares with Guava in a JVM. The page of the docs starts its own JVMs: it runs with the
// first release, and with all releases if more questions are asked than by default.
func TestAgainstGuava(t *testing.T) {
	for i, path := range guavas() {
		t.Run(filepath.Base(path[0]), func(t *testing.T) {
			t.Parallel()
			o := newOracle(t, path)
			t.Run("both ways", o.bothWays)
			t.Run("golden", o.golden)
			if i == 0 || *questions > someQuestions || *allCases {
				t.Run("docs", o.page)
			}
			t.Run("union", o.union)
			t.Run("sizes", o.sizes)
			if *allCases {
				t.Run("beyond 2^31 bits", o.large)
			}
		})
	}
}

// bothWays makes every case in Go and in Java from the same keys. It compares the bytes, the answers of adds
// and lookups, and the estimates. Each side reads the other's filter and adds to it.
func (o *oracle) bothWays(t *testing.T) {
	parameters := o.parameters()
	cases := oracleCases()
	o.prepare(cases)

	// Java writes, Go reads.
	o.run("make")
	all := bytes.NewReader(o.read("all.java"))
	var stream []byte
	for _, c := range cases {
		fromJava := o.read(c.name + ".java")
		f, err := Read(bytes.NewReader(fromJava))
		require.NoError(t, err, c.name)
		require.Equal(t, string(o.read(c.name+".answers")), string(c.probes.ask(f)), c.name)
		require.True(t, bytes.Equal(fromJava, guavaFormat.Bytes(t, f)), "%s: written back", c.name)
		next, err := Read(all)
		require.NoError(t, err)
		require.True(t, next.Equal(f), "%s in the stream of all", c.name)

		// The same filter made in Go.
		made := c.filter(t, parameters)
		require.True(t, made.Compatible(f), "%s: %v and %v", c.name, made, f)
		require.Equal(t, string(o.read(c.name+".added")), string(c.keys.add(made)), c.name)
		require.True(t, bytes.Equal(fromJava, guavaFormat.Bytes(t, made)), "%s: made from the same keys", c.name)
		estimates := strings.Fields(string(o.read(c.name + ".estimates")))
		if f.Strategy() == Mitz64 && estimates[0] != "unknown" && estimates[0] != "full" { // unknown: that Guava has no such method
			require.Equal(t, estimates[0], strconv.FormatUint(f.Stats().EstimatedCount, 10), c.name)
		}
		fpp, err := strconv.ParseFloat(estimates[1], 64)
		require.NoError(t, err)
		require.InDelta(t, fpp, math.Pow(f.Stats().FillRatio, float64(f.Params().K)), 1e-13*fpp, c.name)

		o.write(c.name+".go", guavaFormat.Bytes(t, made))
		stream = append(stream, guavaFormat.Bytes(t, made)...)
	}
	require.Zero(t, all.Len())

	// Go writes, Java reads, and adds more keys.
	o.write("all.go", stream)
	o.run("check")
	questions := 0
	for _, c := range cases {
		fromGo := o.read(c.name + ".go")
		f, err := Read(bytes.NewReader(fromGo))
		require.NoError(t, err)
		require.Equal(t, string(c.probes.ask(f)), string(o.read(c.name+".answers")), c.name)
		require.True(t, bytes.Equal(fromGo, o.read(c.name+".back")), c.name)
		require.Equal(t, string(c.more.add(f)), string(o.read(c.name+".added")), c.name)
		require.True(t, bytes.Equal(guavaFormat.Bytes(t, f), o.read(c.name+".more")), c.name)
		questions += 2 * len(c.probes.raw)
	}
	t.Logf("%d filters, byte-identical both ways; %d adds and %d questions with equal answers",
		len(cases), len(cases)*(3000+1000), questions)
}

// union compares Union with putAll.
func (o *oracle) union(t *testing.T) {
	var filters [2]*bloom.BloomFilter
	for i, name := range []string{"left.go", "right.go"} {
		f, err := New(5000, 0.01, Since33_4)
		require.NoError(t, err)
		for j := range 5000 {
			f.AddString(fmt.Sprint(i, j))
		}
		filters[i] = f
		o.write(name, guavaFormat.Bytes(t, f))
	}
	o.run("union")
	require.NoError(t, filters[0].Union(filters[1]))
	require.True(t, bytes.Equal(o.read("union.java"), guavaFormat.Bytes(t, filters[0])))
}

// sizes compares the formulas on n and p of all magnitudes: m in bits before
// it is rounded, which Go shows in words only, k, and which of them are errors.
func (o *oracle) sizes(t *testing.T) {
	type size struct {
		n uint64
		p float64
	}
	var sizes []size
	for _, n := range []uint64{0, 1, 2, 3, 4, 5, 7, 10, 50, 100, 1000, 12_345, 1e6, 1e7, 1e9, math.MaxInt32, 14_000_000_000, 1 << 40, math.MaxInt64} {
		for _, p := range []float64{0.999, 0.9, 0.7, 0.6, 0.5, 0.3, 0.1, 0.05, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-20, 1e-76, 1e-77, 1e-80, 1e-307, 1e-310, 5e-324} {
			sizes = append(sizes, size{n, p})
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range ties(1) {
		for _, n := range []uint64{1, 2, 3, 10, 1000, 1e9} {
			sizes = append(sizes, size{n, p})
		}
	}
	random := 20_000
	if *allCases {
		random = 1_000_000
	}
	for range random {
		sizes = append(sizes, size{r.Uint64N(1 << (r.UintN(36) + 1)), math.Exp(-math.Exp(r.Float64()*9 - 4))})
	}
	var text strings.Builder
	for _, s := range sizes {
		fmt.Fprintf(&text, "%d %016x\n", s.n, math.Float64bits(s.p))
	}
	o.write("sizes.txt", []byte(text.String()))
	o.run("sizes")
	lines := strings.Split(strings.TrimSpace(string(o.read("sizes.java"))), "\n")
	require.Len(t, lines, len(sizes)+1)
	parameters := since(Since33_4)
	if lines[0] == "old" {
		parameters = since(Since18)
	}
	made, refused, differ := 0, 0, 0
	for i, s := range sizes {
		var bits uint64
		var k int
		var create string
		_, err := fmt.Sscan(lines[i+1], &bits, &k, &create)
		require.NoError(t, err)
		got, err := parameters(s.n, s.p)
		if takes := bits > 0 && (bits-1)/64 < math.MaxInt32 && k <= 255; takes != (err == nil) {
			t.Fatalf("n = %d, p = %v: %v, Guava has %s", s.n, s.p, err, lines[i+1])
		}
		switch create {
		case "-":
		case "error":
			require.Error(t, err, "n = %d, p = %v", s.n, s.p)
			refused++
		default:
			require.NoError(t, err)
			require.Equal(t, create, fmt.Sprintf("%d,%d", got.M/64, got.K))
			made++
		}
		if err != nil {
			continue
		}
		if want := (bits + 63) / 64 * 64; got.M != want || got.K != k {
			t.Fatalf("n = %d, p = %v: %+v, Guava has m = %d (%d) and k = %d", s.n, s.p, got, want, bits, k)
		}
		if now, err := Params(s.n, s.p, Since33_4); err != nil || now.K != k {
			differ++
		}
	}
	t.Logf("%d sizes as Guava's %s formula has them, %d made by create, %d refused by it; in %d, Params has another k",
		len(sizes), lines[0], made, refused, differ)
}

// large compares filters of 2^31 bits and 2^20 words more. MITZ_32 cannot reach their end. Go makes them,
// because Guava does not.
func (o *oracle) large(t *testing.T) {
	keys := feed("long", keysFor("long", 0, 100_000))
	more, probes := feed("long", keysFor("long", 1, 100_000)), feed("long", keysFor("long", 2, 1_000_000))
	probes.raw, probes.fed = append(probes.raw, keys.raw...), append(probes.fed, keys.fed...)
	var cases []oracleCase
	for strategy := range 2 {
		cases = append(cases, oracleCase{fmt.Sprintf("large-%d", strategy), strategy, 0, 0.5, "long", keys, more, probes})
	}
	o.prepare(cases)
	all, err := os.Create(filepath.Join(o.dir, "all.go"))
	require.NoError(t, err)
	for _, c := range cases {
		f, err := bloom.NewWithParams(bloom.Params{M: 1<<31 + 1<<26, K: 9}, bloom.WithStrategy(strategies[c.strategy]))
		require.NoError(t, err)
		c.keys.add(f)
		o.write(c.name+".go", guavaFormat.Bytes(t, f))
		require.NoError(t, Write(all, f))
	}
	require.NoError(t, all.Close())
	o.run("check")
	for _, c := range cases {
		fromGo := o.read(c.name + ".go")
		f, err := Read(bytes.NewReader(fromGo))
		require.NoError(t, err)
		require.Equal(t, string(c.probes.ask(f)), string(o.read(c.name+".answers")), c.name)
		require.True(t, bytes.Equal(fromGo, o.read(c.name+".back")), c.name)
		require.Equal(t, string(c.more.add(f)), string(o.read(c.name+".added")), c.name)
		require.True(t, bytes.Equal(guavaFormat.Bytes(t, f), o.read(c.name+".more")), c.name)
	}
}
