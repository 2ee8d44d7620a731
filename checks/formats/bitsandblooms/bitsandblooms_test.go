// Package bitsandblooms compares interop/bitsandblooms and compat/bitsandblooms with bits-and-blooms itself.
package bitsandblooms

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	theirs "github.com/bits-and-blooms/bloom/v3"
	"github.com/seed3447c163/bloom"
	ours "github.com/seed3447c163/bloom/compat/bitsandblooms"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/stretchr/testify/require"
)

func key(set, i int) []byte {
	if set == 0 && i < 300 { // every length, and the ends of the blocks of 16
		return bytes.Repeat([]byte{byte(i), 0xff, 1}, 100)[:i]
	}
	return fmt.Appendf(nil, "https://example.com/%d/ключ/%d/😀", set, i)
}

// shapes are the m and k of the cases: given, and by n and p.
func shapes(t *testing.T) (list []bloom.Params) {
	list = append(list, bloom.Params{}) // both count as 1
	for _, m := range []uint64{1, 2, 63, 64, 65, 127, 128, 1000, 4096, 99_991, 600_000, 3_000_001} {
		for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 13, 30, 255} {
			list = append(list, bloom.Params{M: m, K: k})
		}
	}
	for _, n := range []uint64{1, 2, 10, 1000, 100_000} {
		for _, p := range []float64{0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-6, 1e-12, 1e-70} {
			params, err := bitsandblooms.Params(n, p)
			require.NoError(t, err)
			list = append(list, params)
		}
	}
	return list
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// TestDropInIsWhole: compat/bitsandblooms has all of their functions and methods. TestDropIn calls the functions.
func TestDropInIsWhole(t *testing.T) {
	functions := func(folder string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "doc", "-short", folder).Output()
		require.NoError(t, err)
		return regexp.MustCompile(`func \w+`).FindAllString(string(out), -1)
	}
	want := functions("github.com/bits-and-blooms/bloom/v3")
	require.Len(t, want, 7)
	require.Subset(t, functions("github.com/seed3447c163/bloom/compat/bitsandblooms"), want)
	their, our := reflect.TypeFor[*theirs.BloomFilter](), reflect.TypeFor[*ours.BloomFilter]()
	for method := range their.Methods() {
		got, found := our.MethodByName(method.Name)
		require.True(t, found, method.Name)
		require.Equal(t, method.Type.String(), got.Type.String(), method.Name) // both packages are called bloom
	}
}

// TestDropIn makes each filter with both libraries by the same calls, and compares every answer, all bytes and many
// lookups.
func TestDropIn(t *testing.T) {
	for _, p := range shapes(t) {
		m, k := uint(p.M), uint(p.K)
		their, our := theirs.New(m, k), ours.New(m, k)
		require.Equal(t, [2]uint{their.Cap(), their.K()}, [2]uint{our.Cap(), our.K()})
		m, k = our.Cap(), our.K()
		for i := range 400 {
			data := key(i%2, i/2)
			text := string(data)
			require.Equal(t, theirs.Locations(data, k), ours.Locations(data, k))
			require.Equal(t, their.TestLocations(theirs.Locations(data, k)), our.TestLocations(ours.Locations(data, k)))
			require.Equal(t, their.Test(data), our.Test(data))
			switch i % 6 {
			case 0:
				their, our = their.Add(data), our.Add(data)
			case 1:
				their, our = their.AddString(text), our.AddString(text)
			case 2:
				require.Equal(t, their.TestAndAdd(data), our.TestAndAdd(data))
			case 3:
				require.Equal(t, their.TestAndAddString(text), our.TestAndAddString(text))
			case 4:
				require.Equal(t, their.TestOrAdd(data), our.TestOrAdd(data))
			case 5:
				require.Equal(t, their.TestOrAddString(text), our.TestOrAddString(text))
			}
			require.Equal(t, their.TestString(text), our.TestString(text))
		}
		same(t, their, our)
		for i := range testkit.Times(5000, 20_000, 100_000) {
			if k := key(i%3, i); our.Test(k) != their.Test(k) {
				t.Fatalf("%+v: %q is there for one", p, k)
			}
		}
		if size := their.ApproximatedSize(); size != 0 { // of a full filter, theirs is what the processor makes of infinity
			require.Equal(t, size, our.ApproximatedSize())
		}
		if m < 3000 && k <= 4 {
			require.Equal(t, theirs.EstimateFalsePositiveRate(m, k, m/5), ours.EstimateFalsePositiveRate(m, k, m/5))
		}
		their2, our2 := their.Copy(), our.Copy()
		require.NoError(t, their2.ClearAll().Merge(theirs.New(m, k).AddString("another")))
		require.NoError(t, our2.ClearAll().Merge(ours.New(m, k).AddString("another")))
		same(t, their2, our2)
		same(t, their, our)
		require.Equal(t, their.Equal(their2), our.Equal(our2))
		for _, other := range []*ours.BloomFilter{ours.New(m+2, k), ours.New(m, k%255+2)} {
			require.Error(t, our.Merge(other))
			require.False(t, our.Equal(other))
		}
		if m%64 == 0 {
			words := make([]uint64, m/64)
			same(t, theirs.From(words, k).AddString("x"), ours.From(make([]uint64, m/64), k).AddString("x"))
			require.Equal(t, theirs.FromWithM(words, m, k).TestString("x"), ours.FromWithM(words, m, k).TestString("x"))
		}
	}
}

// same compares all forms of bytes, and reads each library's by the other.
func same(t *testing.T, their *theirs.BloomFilter, our *ours.BloomFilter) {
	t.Helper()
	require.True(t, their.BitSet().Equal(our.BitSet()))
	binary := must(their.MarshalBinary())
	require.Equal(t, binary, must(our.MarshalBinary()))
	require.Equal(t, string(must(json.Marshal(their))), string(must(json.Marshal(*our))))
	require.Equal(t, must(their.GobEncode()), must(our.GobEncode()))
	var out bytes.Buffer
	n, err := our.WriteTo(&out)
	require.NoError(t, err)
	require.Equal(t, binary, out.Bytes())
	require.EqualValues(t, len(binary), n)
	var read, decoded, fromJSON ours.BloomFilter
	n, err = read.ReadFrom(&out)
	require.NoError(t, err)
	require.EqualValues(t, len(binary), n)
	require.NoError(t, gob.NewEncoder(&out).Encode(their))
	require.NoError(t, gob.NewDecoder(&out).Decode(&decoded))
	require.NoError(t, json.Unmarshal(must(json.Marshal(their)), &fromJSON))
	require.True(t, our.Equal(&read) && our.Equal(&decoded) && our.Equal(&fromJSON))
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
		if _, err := bitsandblooms.Params(n, p); err != nil {
			require.True(t, n == 0 || p == 0 || p == 1 || p < 1e-76, "%d %v %v", n, p, err)
			continue
		}
		m, k := theirs.EstimateParameters(uint(max(n, 1)), p) // theirs has no sizes for 0
		if gotM, gotK := ours.EstimateParameters(uint(n), p); gotM != m || gotK != k {
			t.Fatalf("n = %d, p = %v: %d and %d, want %d and %d", n, p, gotM, gotK, m, k)
		}
		equal++
	}
	t.Logf("%d sizes", equal)
}

// TestZero compares the zero filters. Where theirs panics, ours returns ErrInvalid.
func TestZero(t *testing.T) {
	var their theirs.BloomFilter
	var our ours.BloomFilter
	require.Equal(t, [2]uint{their.Cap(), their.K()}, [2]uint{our.Cap(), our.K()})
	text := must(json.Marshal(their))
	require.Equal(t, string(text), string(must(json.Marshal(our))))
	require.Equal(t, their.Equal(&theirs.BloomFilter{}), our.Equal(&ours.BloomFilter{}))
	require.Nil(t, their.BitSet())
	require.Nil(t, our.BitSet())
	full, theirFull := ours.New(64, 3), theirs.New(64, 3)
	require.Equal(t, their.Equal(theirFull), our.Equal(full))
	for _, of := range []struct{ ours, theirs any }{{full, theirFull}, {new(ours.BloomFilter), new(theirs.BloomFilter)}} {
		require.NoError(t, json.Unmarshal(text, of.ours))
		require.NoError(t, json.Unmarshal(text, of.theirs))
		require.Equal(t, text, must(json.Marshal(of.ours)))
		require.Equal(t, text, must(json.Marshal(of.theirs)))
	}

	type config struct{ Filter ours.BloomFilter } // gob omits the zero filter
	var read config
	var buf bytes.Buffer
	require.NoError(t, gob.NewEncoder(&buf).Encode(config{}))
	require.NoError(t, gob.NewDecoder(&buf).Decode(&read))
	require.Zero(t, read.Filter.Cap())

	require.Panics(t, func() { _ = gob.NewEncoder(&buf).Encode(&their) })
	require.Panics(t, func() { _, _ = their.MarshalBinary() })
	require.Panics(t, func() { _ = their.Merge(&theirs.BloomFilter{}) })
	_, err := our.MarshalBinary()
	_, err2 := our.WriteTo(&buf)
	for _, err := range []error{err, err2, gob.NewEncoder(&buf).Encode(&our), our.Merge(&ours.BloomFilter{}), full.Merge(nil)} {
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
}

// smallCalls are calls on filters of 50 keys, by each library. They return something that depends on their work.
func smallCalls() map[string][2]func() any {
	their, our := theirs.NewWithEstimates(50, 0.01), ours.NewWithEstimates(50, 0.01)
	for i := range 50 {
		their.Add(key(1, i))
		our.Add(key(1, i))
	}
	binary, text := must(their.MarshalBinary()), must(json.Marshal(their))
	return map[string][2]func() any{
		"New": {
			func() any { return theirs.NewWithEstimates(50, 0.01) },
			func() any { return ours.NewWithEstimates(50, 0.01) },
		},
		"MarshalBinary": {
			func() any { return must(their.MarshalBinary()) },
			func() any { return must(our.MarshalBinary()) },
		},
		"UnmarshalBinary": {
			func() any { var f theirs.BloomFilter; return must(nil, f.UnmarshalBinary(binary)) },
			func() any { var f ours.BloomFilter; return must(nil, f.UnmarshalBinary(binary)) },
		},
		"json.Marshal": {
			func() any { return must(json.Marshal(their)) },
			func() any { return must(json.Marshal(our)) },
		},
		"json.Unmarshal": {
			func() any { var f theirs.BloomFilter; return must(nil, json.Unmarshal(text, &f)) },
			func() any { var f ours.BloomFilter; return must(nil, json.Unmarshal(text, &f)) },
		},
	}
}

// TestSmallAllocations: filters of 50 keys take at most 1.2 times the allocations of bits-and-blooms.
func TestSmallAllocations(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector, which allocates: allocations")
	}
	for name, calls := range smallCalls() {
		their := testing.AllocsPerRun(100, func() { sink = calls[0]() })
		our := testing.AllocsPerRun(100, func() { sink = calls[1]() })
		t.Logf("%s: %v, theirs %v", name, our, their)
		require.LessOrEqual(t, our, 1.2*their, name)
	}
}

var sink any

// BenchmarkSmall measures calls on filters of 50 keys.
func BenchmarkSmall(b *testing.B) {
	for name, calls := range smallCalls() {
		for i, library := range []string{"bits-and-blooms", "compat"} {
			b.Run(fmt.Sprintf("call=%s/library=%s", name, library), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					sink = calls[i]()
				}
			})
		}
	}
}

// BenchmarkDropIn compares times of the drop-in and of bits-and-blooms: keys of 40 bytes, half of them in the filter
// for Test. Goroutines can share a filter of bits-and-blooms only under a lock.
func BenchmarkDropIn(b *testing.B) {
	const n = 10_000
	keys := make([][]byte, 2*n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%011d", i)
	}
	var lock sync.RWMutex
	their, our := theirs.NewWithEstimates(n, 0.01), ours.NewWithEstimates(n, 0.01)
	for _, key := range keys[:n] {
		their.Add(key)
		our.Add(key)
	}
	for _, c := range []struct {
		name string
		call func(key []byte) bool
	}{
		{"call=Test/library=bits-and-blooms", their.Test},
		{"call=Test/library=bits-and-blooms+RWMutex", func(key []byte) bool {
			lock.RLock()
			defer lock.RUnlock()
			return their.Test(key)
		}},
		{"call=Test/library=compat", our.Test},
		{"call=TestAndAdd/library=bits-and-blooms", their.TestAndAdd},
		{"call=TestAndAdd/library=bits-and-blooms+RWMutex", func(key []byte) bool {
			lock.Lock()
			defer lock.Unlock()
			return their.TestAndAdd(key)
		}},
		{"call=TestAndAdd/library=compat", our.TestAndAdd},
	} {
		of := 2 * n
		if strings.Contains(c.name, "TestAndAdd") {
			of = n // the filter stays as it is
		}
		b.Run(c.name, func(b *testing.B) {
			for i := range b.N {
				c.call(keys[i%of])
			}
		})
	}
}
