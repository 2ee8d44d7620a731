package npmbloomfilters

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
	"github.com/stretchr/testify/require"
)

// A testCase is a filter that both sides make.
type testCase struct {
	Name string   `json:"name"`
	N    uint64   `json:"n"`
	P    float64  `json:"p"`
	Seed uint64   `json:"seed"`
	Keys []string `json:"keys"`
}

// keys returns keys of all lengths, in several alphabets.
func keys(first, n uint64) []string {
	texts := []string{"", "a", "äöü", "漢字かな", "😀 smile", "https://example.com/some/rather/long/path?with=query&and=more"}
	list := make([]string, n)
	for i := range list {
		at := first + uint64(i)
		list[i] = fmt.Sprint(texts[at%uint64(len(texts))], at)
	}
	return list
}

func (c testCase) filter(t *testing.T) *bloom.BloomFilter {
	params, err := paramsFor(c.N, c.P)
	require.NoError(t, err)
	hash, err := HashOf(c.Seed)
	require.NoError(t, err)
	f, err := foreign.New(params, required(hash), nil)
	require.NoError(t, err)
	for _, key := range c.Keys {
		f.AddString(key)
	}
	return f
}

func (c testCase) golden() string { return filepath.Join("testdata", c.Name+".json") }

var ourFormat = conformance.Foreign[*bloom.BloomFilter]{New: New, Read: Read, Write: Write, Text: true}

var goldenCases = []testCase{
	{Name: "one", N: 1, P: 0.01, Seed: defaultSeed, Keys: keys(0, 1)},
	{Name: "some", N: 100, P: 0.05, Seed: defaultSeed, Keys: keys(0, 100)},
	{Name: "seeded", N: 300, P: 0.001, Seed: 42, Keys: keys(0, 300)},
}

// TestFrozenFiles needs no Node: the files were written by bloom-filters 3.0.4.
func TestFrozenFiles(t *testing.T) {
	for _, c := range goldenCases {
		ourFormat.Golden(t, c.golden(), c.filter(t))
	}
}

// TestAgainstBloomFilters compares with versions 3 and 2 of the package itself, under Node: each side makes every
// filter, reads the other's, and looks up and adds more keys.
func TestAgainstBloomFilters(t *testing.T) {
	for _, name := range []string{"bloom-filters", "bloom-filters-2"} {
		t.Run(name, func(t *testing.T) { testAgainst(t, name) })
	}
}

func testAgainst(t *testing.T, name string) {
	modules := os.Getenv("BLOOM_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, name)); err != nil || modules == "" {
		testkit.Missing(t, name+" in BLOOM_NODE_MODULES")
	}
	dir := t.TempDir()
	write := func(name string, v any) {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	read := func(name string, v any) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, v))
	}
	cases, probes, more := slices.Clone(goldenCases), keys(0, uint64(testkit.Times(5000, 5000, 100_000))), keys(1e6, 100)
	for i, seed := range []uint64{defaultSeed, 0, 1, 42, 1<<32 - 2, 1<<32 - 1, 1 << 32, maxSeed} {
		for n, p := range map[uint64]float64{1: 0.5, 7: 0.3, 1000: 0.01, 5000: 1e-6} {
			cases = append(cases, testCase{fmt.Sprintf("case-%d-%d", i, n), n, p, seed, keys(uint64(i)*1000, n)})
		}
	}
	for _, c := range cases {
		write(c.Name+".go.json", json.RawMessage(ourFormat.Bytes(t, c.filter(t))))
	}
	write("cases.json", map[string]any{"cases": cases, "probes": probes, "more": more})
	var sizes [][2]float64
	r := rand.New(rand.NewPCG(5, 6))
	for range testkit.Times(20_000, 20_000, 1_000_000) {
		sizes = append(sizes, [2]float64{math.Floor(math.Exp(r.Float64() * 19)), math.Exp(-math.Exp(r.Float64()*6 - 3))})
	}
	for n := 1.0; n < 200; n++ {
		for _, p := range []float64{0.5, 0.1, 0.05, 0.03, 0.02, 0.01, 0.001} {
			sizes = append(sizes, [2]float64{n, p})
		}
	}
	write("sizes.json", sizes)

	command := exec.Command("node", "testdata/oracle.js", name, dir)
	command.Env = append(os.Environ(), "NODE_PATH="+modules)
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	t.Logf("%s", said)

	var theirs map[string]string
	read("answers.json", &theirs)
	for _, c := range cases {
		f := c.filter(t)
		ourFormat.Golden(t, filepath.Join(dir, c.Name+".js.json"), f)
		for i, key := range probes {
			require.Equal(t, theirs[c.Name][i] == '1', f.ContainsString(key), "%s: %q", c.Name, key)
		}
		for _, key := range more {
			f.AddString(key)
		}
		ourFormat.Golden(t, filepath.Join(dir, c.Name+".more.json"), f)
	}
	var made [][2]float64
	read("sizes.js.json", &made)
	for i, s := range sizes {
		got, err := paramsFor(uint64(s[0]), s[1])
		if made[i][0] > maxM || made[i][1] > foreign.MaxK {
			require.Error(t, err)
		} else {
			require.NoError(t, err)
			require.Equal(t, made[i], [2]float64{float64(got.M), float64(got.K)}, "n = %v, p = %v", s[0], s[1])
		}
	}
	for _, c := range goldenCases {
		file, err := os.ReadFile(filepath.Join(dir, c.Name+".js.json"))
		require.NoError(t, err)
		testkit.Golden(t, c.golden(), file)
	}
}

// TestOldVersions: files of bloom-filters 0.8.1 and 1.3.9, whose positions differ, are refused.
func TestOldVersions(t *testing.T) {
	for _, file := range []string{
		`{"type":"BloomFilter","_size":20,"_length":1,"_nbHashes":2,"_filter":[0,0,0,0,0,1,0,0,0,0,1,0,0,0,0,0,0,0,0,0],"_seed":78187493520}`,
		`{"type":"BloomFilter","_size":20,"_nbHashes":2,"_filter": [0,0,0,0,0,0,0,0,0,0,1,0,1,0,0,0,0,0,0,0],"_length":2,"_seed":78187493520}`,
	} {
		_, err := Read(strings.NewReader(file))
		require.ErrorIs(t, err, bloom.ErrIncompatible)
		require.NotErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, "before version 2")
	}
}

func TestReadRefuses(t *testing.T) {
	const good = `{"type":"BloomFilter","_size":20,"_nbHashes":3,"_filter":{"size":24,"content":"AQID"},"_seed":78187493520}`
	want, err := Read(strings.NewReader(good + " \n"))
	require.NoError(t, err)
	for _, same := range []string{
		`{"_filter":{"content":"\u0041QID","size":24},"_nbHashes":3,"_seed":78187493520,"_size":20,"of a later version":1,"type":"BloomFilter"}`,
		strings.Replace(good, `{`, `{"note":{"content":"text"},"list":[{"content":"x"},{"_filter":{"content":7}}],"content":"y","_SEED":1,`, 1),
		strings.Replace(good, `"AQID"`, `"AQID","more":{"content":"z","_filter":{"content":"z"}},"Content":"AAAA"`, 1),
		strings.Replace(good, `,"_seed"`, `,"note":{"content":"z"},"_seed"`, 1),
		strings.Replace(good, `_size":20`, `_size":2.0e1`, 1),
	} {
		got, err := Read(strings.NewReader(same))
		require.NoError(t, err, same)
		require.True(t, got.Equal(want))
	}
	for _, c := range []struct {
		from, to string
		is       error
	}{
		{"BloomFilter", "Filter", bloom.ErrCorrupt}, {`"_size":20`, `"_size":0`, bloom.ErrCorrupt}, {`"_size":20`, `"_size":-1`, bloom.ErrCorrupt},
		{`"_size":20`, `"_size":20.5`, bloom.ErrCorrupt}, {`"_size":20`, `"_size":1e300`, bloom.ErrTooLarge}, {`"_size":20`, `"_size":1000000000000`, bloom.ErrTooLarge},
		{`"_size":20`, `"_size":28`, bloom.ErrCorrupt}, {`"_size":20,`, ``, bloom.ErrCorrupt}, {`"_nbHashes":3`, `"_nbHashes":0`, bloom.ErrCorrupt},
		{`"_nbHashes":3`, `"_nbHashes":256`, bloom.ErrCorrupt}, {`"size":24`, `"size":32`, bloom.ErrCorrupt}, {"AQID", "AQIDBA==", bloom.ErrCorrupt}, {"AQID", "AQIDAA==", bloom.ErrCorrupt}, {"AQID", "AQI=", bloom.ErrCorrupt},
		{"AQID", "AQ!D", bloom.ErrCorrupt}, {"AQID", "AQL/", bloom.ErrCorrupt}, {`"_seed":78187493520`, `"_seed":-1`, bloom.ErrIncompatible}, {`"_seed":78187493520`, `"_seed":9007199254740990`, bloom.ErrIncompatible},
		{`"_seed":78187493520`, `"_seed":0.5`, bloom.ErrIncompatible}, {`"_seed":78187493520`, `"_seed":null`, bloom.ErrCorrupt}, {"}", "", bloom.ErrCorrupt},
		{`{"size":24,"content":"AQID"}`, `7`, bloom.ErrCorrupt}, {`"AQID"`, `{"x":"y"}`, bloom.ErrCorrupt},
		{`{"size":24,"content":"AQID"}`, `"` + strings.Repeat("A", 4096) + `"`, bloom.ErrCorrupt},
	} {
		_, err := Read(strings.NewReader(strings.Replace(good, c.from, c.to, 1)), bloom.WithMaxBytes(1<<10))
		require.ErrorIs(t, err, c.is, "%s instead of %s", c.to, c.from)
		require.ErrorContains(t, err, "bloom: ")
	}
}

// TestOtherStructures: Read names the other structures of bloom-filters. Node writes one of each that has JSON.
func TestOtherStructures(t *testing.T) {
	modules := os.Getenv("BLOOM_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "bloom-filters")); err != nil || modules == "" {
		testkit.Missing(t, "bloom-filters in BLOOM_NODE_MODULES")
	}
	command := exec.Command("node", "testdata/others.js")
	command.Env = append(os.Environ(), "NODE_PATH="+modules)
	said, err := command.Output()
	require.NoError(t, err)
	var texts []json.RawMessage
	require.NoError(t, json.Unmarshal(said, &texts))
	require.Greater(t, len(texts), 7)
	var kind struct{ Type string }
	for _, text := range texts {
		require.NoError(t, json.Unmarshal(text, &kind))
		_, err := Read(strings.NewReader(string(text)))
		require.ErrorIs(t, err, bloom.ErrIncompatible, "%.200s", text)
		require.NotErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, map[bool]string{true: "_seed", false: "a " + kind.Type + ", want a BloomFilter"}[kind.Type == "BloomFilter"])
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(0, 0.1)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = New(1e9, 0.01)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = HashOf(1 << 53)
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

func TestFormat(t *testing.T) {
	var filters []*bloom.BloomFilter
	for _, n := range []uint64{10, 100, 1000, 1_000_000} { // the second has whole words and some bytes
		f, err := New(n, 0.01)
		require.NoError(t, err)
		for _, key := range keys(0, min(n, 1000)) {
			f.AddString(key)
		}
		filters = append(filters, f)
	}
	ourFormat.Test(t, filters...)
	require.ErrorIs(t, Write(io.Discard, bloom.MustNew(10, 0.1, bloom.WithStrategy(Strategy))), bloom.ErrNotPortable)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"BloomFilter","_size":10,"_nbHashes":2,"_filter":[1,0,0,0,0,0,0,0,1,0],"_seed":1}`))
	ourFormat.Fuzz(f, []byte(`{"type":"BloomFilter","_size":20,"_nbHashes":3,"_filter":{"size":24,"content":"AQID"},"_seed":78187493520}`))
}

// TestConformance uses digests of 128 bits. Those of HashOf have 64.
func TestConformance(t *testing.T) {
	require.NoError(t, bloomtest.TestStrategy(Strategy, bloom.Params{N: 100, P: 0.05}, bloom.Params{N: 1000, P: 0.01}, bloom.Params{N: 20_000, P: 1e-3}))
}
