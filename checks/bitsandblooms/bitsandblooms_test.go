// Package bitsandblooms compares interop/bitsandblooms with bits-and-blooms itself.
package bitsandblooms

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bits-and-blooms/bitset"
	theirs "github.com/bits-and-blooms/bloom/v3"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/stretchr/testify/require"
)

const testdata = "../../interop/bitsandblooms/testdata/"

var update = flag.Bool("update", false, "write the golden files")

func key(set, i int) []byte {
	if set == 0 && i < 300 { // every length, and the ends of the blocks of 16
		return bytes.Repeat([]byte{byte(i), 0xff, 1}, 100)[:i]
	}
	return fmt.Appendf(nil, "https://example.com/%d/ключ/%d/😀", set, i)
}

func binaryOf(t testing.TB, f *bloom.BloomFilter) []byte {
	var out bytes.Buffer
	require.NoError(t, bitsandblooms.Write(&out, f))
	return out.Bytes()
}

func jsonOf(t testing.TB, f *bloom.BloomFilter) []byte {
	var out bytes.Buffer
	require.NoError(t, bitsandblooms.WriteJSON(&out, f))
	return out.Bytes()
}

// shapes are the m and k of the cases: given, and by n and p.
func shapes(t *testing.T) (list []bloom.Params) {
	for _, m := range []uint64{1, 2, 63, 64, 65, 127, 128, 1000, 4096, 99_991, 600_000, 3_000_001} {
		for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 13, 30, 255} {
			list = append(list, bloom.Params{M: m, K: k})
		}
	}
	for _, n := range []uint64{1, 2, 10, 1000, 100_000} {
		for _, p := range []float64{0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-6, 1e-12, 1e-70} {
			params, err := bitsandblooms.Params(n, p)
			require.NoError(t, err)
			m, k := theirs.EstimateParameters(uint(max(n, 1)), p) // theirs has no sizes for 0
			require.Equal(t, [2]uint64{uint64(m), uint64(k)}, [2]uint64{params.M, uint64(params.K)})
			list = append(list, params)
		}
	}
	return list
}

// TestBothWays makes each filter with both libraries from the same keys. It compares the bytes, the JSON, the
// answers of adds and of 100,000 lookups. Each library reads the other's filter and adds to it.
func TestBothWays(t *testing.T) {
	const keys, more = 2000, 500
	probes := 100_000
	if testing.Short() {
		probes = 5000
	}
	filters := 0
	for _, p := range shapes(t) {
		their := theirs.New(uint(p.M), uint(p.K))
		our, err := bloom.NewWithParams(p, bloom.WithStrategy(bitsandblooms.Strategy))
		require.NoError(t, err)
		for i := range keys {
			if our.Add(key(0, i)) == their.TestAndAdd(key(0, i)) {
				t.Fatalf("%+v: key %d is new to one", p, i)
			}
		}
		equal(t, their, our)

		our2, err := bitsandblooms.Read(bytes.NewReader(must(their.MarshalBinary())))
		require.NoError(t, err)
		our3, err := bitsandblooms.ReadJSON(bytes.NewReader(must(json.Marshal(their))))
		require.NoError(t, err)
		require.True(t, our2.Equal(our) && our3.Equal(our))
		var their2, their3 theirs.BloomFilter
		require.NoError(t, their2.UnmarshalBinary(binaryOf(t, our)))
		require.NoError(t, json.Unmarshal(jsonOf(t, our), &their3))
		require.True(t, their2.Equal(their) && their3.Equal(their))
		for i := range more {
			if our2.Add(key(1, i)) == their2.TestAndAdd(key(1, i)) {
				t.Fatalf("%+v: key %d is new to one", p, i)
			}
		}
		equal(t, &their2, our2)
		for i := range probes {
			if k := key(i%3, i); our2.Contains(k) != their2.Test(k) {
				t.Fatalf("%+v: %q is there for one", p, k)
			}
		}
		// Merge is Union.
		require.NoError(t, our.Union(our2))
		require.NoError(t, their.Merge(&their2))
		equal(t, their, our)
		filters++
	}
	t.Logf("%d filters, byte-identical both ways, binary and JSON; %d adds and %d questions with equal answers",
		filters, filters*(keys+more), filters*probes)
}

func equal(t *testing.T, their *theirs.BloomFilter, our *bloom.BloomFilter) {
	t.Helper()
	require.True(t, bytes.Equal(must(their.MarshalBinary()), binaryOf(t, our)))
	require.True(t, bytes.Equal(must(json.Marshal(their)), jsonOf(t, our)))
	if s := our.Stats(); s.FillRatio < 1 { // theirs converts an infinity
		require.Equal(t, uint64(their.ApproximatedSize()), s.EstimatedCount)
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// TestSwitches reads filters of programs that have called the other library's global switches. The switch for
// the alphabet cannot be reset, so the test replaces the characters.
func TestSwitches(t *testing.T) {
	for _, m := range []uint{1, 64, 255, 256, 65_536, 100_000, 16_777_216} {
		their := theirs.New(m, 3)
		for i := range 100 {
			their.Add(key(2, i))
		}
		plain := must(their.MarshalBinary())
		std := []byte(strings.NewReplacer("-", "+", "_", "/").Replace(string(must(json.Marshal(their)))))
		bitset.LittleEndian()
		little := must(their.MarshalBinary())
		bitset.BigEndian()
		f, err := bitsandblooms.Read(bytes.NewReader(little))
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, binaryOf(t, f)))
		f, err = bitsandblooms.ReadJSON(bytes.NewReader(std))
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, binaryOf(t, f)))
	}
}

// TestWordsWithSpareBits reads filters over a caller's words, whose set is longer than m.
func TestWordsWithSpareBits(t *testing.T) {
	for _, m := range []uint{65, 100, 127, 128} {
		their := theirs.FromWithM(make([]uint64, 2), m, 3)
		for i := range 20 {
			their.Add(key(1, i))
		}
		f, err := bitsandblooms.Read(bytes.NewReader(must(their.MarshalBinary())))
		require.NoError(t, err)
		for i := range 1000 {
			require.Equal(t, their.Test(key(1, i)), f.Contains(key(1, i)))
		}
		var again theirs.BloomFilter
		require.NoError(t, again.UnmarshalBinary(binaryOf(t, f)))
		require.Equal(t, m, again.Cap())
	}
}

// TestSizes compares the formulas on n and p of all magnitudes.
func TestSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	equal := 0
	for range 100_000 {
		n, p := r.Uint64N(1<<(r.UintN(48)+1)), math.Exp(-math.Exp(r.Float64()*9-4))
		if math.MaxUint == math.MaxUint32 {
			n %= 1 << 16 // theirs has an uint
		}
		got, err := bitsandblooms.Params(n, p)
		if err != nil {
			require.True(t, n == 0 || p == 0 || p == 1 || p < 1e-76, "%d %v %v", n, p, err)
			continue
		}
		m, k := theirs.EstimateParameters(uint(max(n, 1)), p) // theirs has no sizes for 0
		if got.M != uint64(m) || got.K != int(k) {
			t.Fatalf("n = %d, p = %v: %+v, want %d and %d", n, p, got, m, k)
		}
		equal++
	}
	t.Logf("%d sizes", equal)
}

// golden are the filters in testdata: name, n, p, and the keys "key 0" to "key n-1".
var golden = []struct {
	name string
	n    uint64
	p    float64
}{{"empty", 10, 0.01}, {"ten", 10, 0.01}, {"hundred", 100, 1e-6}, {"one", 1, 0.5}}

// TestGolden compares the golden files with the library's output, or writes them.
func TestGolden(t *testing.T) {
	for _, g := range golden {
		their := theirs.NewWithEstimates(uint(g.n), g.p)
		for i := range g.n {
			if g.name != "empty" {
				their.AddString(fmt.Sprintf("key %d", i))
			}
		}
		files := map[string][]byte{g.name + ".bloom": must(their.MarshalBinary()), g.name + ".json": must(json.Marshal(their))}
		for name, data := range files {
			if *update {
				require.NoError(t, os.WriteFile(testdata+name, data, 0o644))
			}
			want, err := os.ReadFile(testdata + name)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, data), name)
		}
	}
}
