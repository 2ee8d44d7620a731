package bloom_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed3447c163/bloom"
)

// A crawler, whose workers call AddString at the same time: the one that gets true fetches the page. A page
// that is mistaken for a known one is never fetched, so p is small. Strangers choose the URLs of the
// open web, so the hash has a seed that only this process knows. WithSecret is for filters that are saved.
func Example() {
	seen, err := bloom.New(1_000_000, 1e-6, bloom.WithHash(bloom.MapHash))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://go.dev/", "https://go.dev/doc/", "https://go.dev/"} {
		if seen.AddString(url) {
			fmt.Println("fetch", url)
		}
	}
	// Output:
	// fetch https://go.dev/
	// fetch https://go.dev/doc/
}

// A filter in front of a database. A false positive costs one unnecessary query, so p is 1 %.
func ExampleNew() {
	users, err := bloom.New(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(users)

	_, err = bloom.New(1_000_000, 1) // 1, and 1 % was meant
	fmt.Println(err)
	// Output:
	// bloom.BloomFilter(n=1000000 p=0.01 m=9592960 k=7 strategy=double-hashing hash=murmur3 bytes=1199120)
	// bloom: invalid parameter: p = 1, want 0 < p < 1
}

// Digest hashes a key once for several filters.
func ExampleScheme_Digest() {
	byDay := []*bloom.BloomFilter{bloom.MustNew(1000, 0.001), bloom.MustNew(5000, 0.001), bloom.MustNew(1000, 0.001)}
	byDay[1].AddString("order-4711")

	h1, h2 := byDay[0].Scheme().Digest([]byte("order-4711"))
	for day, f := range byDay {
		if f.ContainsDigest(h1, h2) {
			fmt.Println("probably on day", day)
		}
	}
	// Output:
	// probably on day 1
}

func ExampleBloomFilter_Union() {
	a, b := bloom.MustNew(1000, 0.001), bloom.MustNew(1000, 0.001)
	a.AddString("from a")
	b.AddString("from b")
	if err := a.Union(b); err != nil {
		fmt.Println(err)
	}
	fmt.Println(a.ContainsString("from a"), a.ContainsString("from b"), a.Stats().EstimatedCount)

	other := bloom.MustNew(2000, 0.001)
	fmt.Println(a.Union(other))
	// Output:
	// true true 2
	// bloom: incompatible filters: m = 14400 and 28800
}

// Intersect keeps the bits of both filters: here, of users who came on both days.
func ExampleBloomFilter_Intersect() {
	monday, tuesday := bloom.MustNew(1000, 0.001), bloom.MustNew(1000, 0.001)
	monday.AddString("ada")
	monday.AddString("grace")
	tuesday.AddString("grace")
	tuesday.AddString("rob")
	both := monday.Clone() // a Go copy would share its bits with monday
	if err := both.Intersect(tuesday); err != nil {
		fmt.Println(err)
	}
	fmt.Println(both.ContainsString("ada"), both.ContainsString("grace"), both.ContainsString("rob"))
	// Output:
	// false true false
}

// A scheme computes the size without memory for the bits.
func ExampleNewScheme() {
	scheme, err := bloom.NewScheme(1_000_000_000, 0.001, bloom.WithStrategy(bloom.Blocked))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f GB, k = %d\n", float64(scheme.Params().M)/8e9, scheme.Params().K)
	// Output:
	// 2.0 GB, k = 8
}

// The walk of docs/internals.md.
func ExampleScheme_AppendPositions() {
	f := bloom.MustNew(1000, 0.01)
	key, params := []byte("https://go.dev/"), f.Params()
	h1, h2 := f.Scheme().Digest(key)
	positions := f.Scheme().AppendPositions(nil, key)
	fmt.Printf("m = %d, k = %d, %d bytes\n%016x %016x\n%d\n", params.M, params.K, f.SizeBytes(), h1, h2, positions)
	fmt.Println(f.Add(key), f.Add(key))
	for i := range f.Words() {
		if word := f.Words()[i].Load(); word != 0 {
			fmt.Printf("word %d: %#x\n", i, word)
		}
	}
	// Output:
	// m = 9600, k = 7, 1200 bytes
	// 0e3c82d98008318b 92571fa0d5fba95f
	// [533 1191 6660 85 2268 641 4181]
	// true false
	// word 1: 0x200000
	// word 8: 0x200000
	// word 10: 0x2
	// word 18: 0x8000000000
	// word 35: 0x10000000
	// word 65: 0x200000
	// word 104: 0x10
}

// Many small filters share the scheme: here, one filter per user of the articles that were read.
func ExampleScheme_Filter() {
	scheme, err := bloom.NewScheme(100, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	read := map[string]*bloom.BloomFilter{}
	for _, user := range []string{"ada", "grace"} {
		if read[user], err = scheme.Filter(); err != nil {
			fmt.Println(err)
			return
		}
	}
	read["ada"].AddString("article-17")
	fmt.Println(read["ada"].ContainsString("article-17"), read["grace"].ContainsString("article-17"), read["ada"].SizeBytes(), "bytes")
	// Output:
	// true false 128 bytes
}

// All keys are known before the first lookup.
func ExampleScheme_Builder() {
	scheme, err := bloom.NewScheme(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := scheme.Builder()
	if err != nil {
		fmt.Println(err)
		return
	}
	b.AddString("alice")
	b.AddMany([][]byte{[]byte("bob"), []byte("carol")})
	f := b.Filter()
	fmt.Println(f.ContainsString("alice"), f.ContainsString("carol"), f.ContainsString("dave"))
	// Output: true true false
}

// The fastest filter for keys of your own: a false positive costs one unnecessary disk read.
func ExampleWithStrategy() {
	f, err := bloom.New(1_000_000, 0.01, bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(bloom.RapidHash))
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("row-1")
	fmt.Println(f.ContainsString("row-1"), f.ContainsString("row-2"), f.Scheme().Strategy())
	// Output:
	// true false split-block
}

func ExampleNewStrategy() {
	// Enhanced double hashing. Without the cubic term, it is the textbook's, which bloomtest.TestStrategy rejects.
	enhanced := bloom.NewStrategy("enhanced", bloom.Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
			return func(h1, h2 uint64, i int) uint64 {
				x := uint64(i)
				return (h1 + x*h2 + x*(x*x-1)/6) % m
			}, nil
		},
	})
	f := bloom.MustNew(1000, 0.01, bloom.WithStrategy(enhanced))
	f.AddString("key")
	fmt.Println(f.ContainsString("key"), f.ContainsString("other"), f.Scheme().Strategy())
	// Output:
	// true false enhanced
}

// A file with a custom hash is read with the same hash.
func ExampleNewHash64() {
	fnv := bloom.NewHash64("fnv-1a-mixed", func(key []byte) uint64 {
		h := uint64(14695981039346656037)
		for _, c := range key {
			h = (h ^ uint64(c)) * 1099511628211
		}
		h ^= h >> 32 // FNV alone has poor high bits
		h *= 0x9e3779b185ebca87
		return h ^ h>>32
	})
	f := bloom.MustNew(1000, 0.01, bloom.WithHash(fnv))
	f.AddString("key")
	data, _ := f.MarshalBinary()

	_, err := bloom.Read(bytes.NewReader(data))
	fmt.Println(err)
	g, err := bloom.Read(bytes.NewReader(data), bloom.WithHash(fnv))
	fmt.Println(g.ContainsString("key"), err)
	// Output:
	// bloom: incompatible filters: the data's hash is "fnv-1a-mixed", want one of that name by WithHash
	// true <nil>
}

// Numbers need no bytes and no hash, even if they are sequential.
func ExampleDigest64() {
	f := bloom.MustNew(1000, 0.01)
	for height := range uint64(1000) {
		f.AddDigest(bloom.Digest64(height))
	}
	fmt.Println(f.ContainsDigest(bloom.Digest64(999)), f.ContainsDigest(bloom.Digest64(1000)))
	// Output:
	// true false
}

func ExampleBloomFilter_AddMany() {
	f := bloom.MustNew(1_000_000, 0.001, bloom.WithStrategy(bloom.Blocked))
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("a"), []byte("c")}
	added := make([]bool, len(keys))
	fmt.Println(f.AddMany(keys, added), added)
	fmt.Println(f.ContainsMany([][]byte{[]byte("a"), []byte("x")}, nil))
	// Output:
	// 3 [true true false true]
	// 1
}

// If n is not known, make the filter large, with an m that has all small divisors, and shrink it
// when the keys are in.
func ExampleBloomFilter_FoldTo() {
	scheme, err := bloom.NewScheme(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	params := scheme.Params()
	const unit = 2520 * 64 // divisible by 1 to 10
	params.M = (params.M + unit - 1) / unit * unit
	scheme, err = bloom.NewSchemeWithParams(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := scheme.Filter()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 90_000 { // only so many came
		f.Add(fmt.Append(nil, "key ", i))
	}
	small, err := f.FoldTo(0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d kB folded by %d to %d kB\n", f.SizeBytes()/1000, f.Params().M/small.Params().M, small.SizeBytes()/1000)
	fmt.Println(small.ContainsString("key 89999"), small.Stats().EstimatedFalsePositiveRate <= 0.01)
	// Output:
	// 1209 kB folded by 10 to 120 kB
	// true true
}

func ExampleParamsForBits() {
	params, err := bloom.ParamsForBits(10_000, 10, bloom.DoubleHashing)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("m = %d, k = %d, rate %.2f %%\n", params.M, params.K, 100*params.P)
	// Output: m = 100032, k = 7, rate 0.82 %
}

// Stats takes one pass over the bits. The warning comes while there is time to build a larger
// filter. In a service, a time.Ticker asks every minute.
func ExampleBloomFilter_Stats() {
	f := bloom.MustNew(1000, 0.01)
	for i := range 1500 {
		f.AddString(fmt.Sprint("key ", i))
		if (i+1)%300 > 0 {
			continue
		}
		switch s := f.Stats(); {
		case s.OverP():
			fmt.Printf("overloaded: %d keys, rate %.3f\n", s.EstimatedCount, s.EstimatedFalsePositiveRate)
		case float64(s.EstimatedCount) > 0.8*float64(s.N):
			fmt.Printf("nearly full: %d of %d keys\n", s.EstimatedCount, s.N)
		}
	}
	// Output:
	// nearly full: 898 of 1000 keys
	// overloaded: 1198 keys, rate 0.023
	// overloaded: 1502 keys, rate 0.058
}

// An alarm for a filter with keys that strangers choose compares its bits with the number of
// adds. A stranger who knows the hash adds only keys that set k new bits each. Keys by chance
// have some bits in common.
func ExampleBloomFilter_Stats_alarm() {
	f := bloom.MustNew(1000, 0.01) // with the hash that everybody knows
	adds := uint64(0)
	alarm := func() bool {
		p := f.Params()
		expected := float64(p.M) * -math.Expm1(-float64(p.K)*float64(adds)/float64(p.M))
		return float64(f.Stats().Ones) > expected+6*math.Sqrt(expected)
	}
	report := func(who string) {
		s := f.Stats()
		fmt.Printf("%s: %d adds, fill %.2f, rate %.3f, alarm %v\n",
			who, adds, float64(s.Ones)/float64(s.M), s.EstimatedFalsePositiveRate, alarm())
	}

	for i := range 500 {
		f.AddString(fmt.Sprint("https://example.com/", i))
		adds++
	}
	report("honest")

	// The stranger has an equal filter, and tries keys until k bits are new.
	his := f.Clone()
	for i := 0; adds < 1000; i++ {
		url := fmt.Sprint("https://example.org/", i)
		if setsOnlyNewBits(his, url) {
			his.AddString(url)
			f.AddString(url)
			adds++
		}
	}
	report("polluted")
	// Output:
	// honest: 500 adds, fill 0.30, rate 0.000, alarm false
	// polluted: 1000 adds, fill 0.67, rate 0.060, alarm true
}

func setsOnlyNewBits(f *bloom.BloomFilter, key string) bool {
	taken := map[uint64]bool{}
	for _, pos := range f.Scheme().AppendPositions(nil, []byte(key)) {
		if taken[pos] || f.Words()[pos/64].Load()>>(pos%64)&1 == 1 {
			return false
		}
		taken[pos] = true
	}
	return true
}

// Several filters in one stream: each Read takes one, and io.EOF is the end.
func ExampleBloomFilter_WriteTo() {
	var stream bytes.Buffer
	for day := range 3 {
		f := bloom.MustNew(1000, 0.01)
		f.AddString(fmt.Sprint("order-", day))
		if _, err := f.WriteTo(&stream); err != nil {
			fmt.Println(err)
			return
		}
	}
	for {
		f, err := bloom.Read(&stream)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.ContainsString("order-1"))
	}
	// Output:
	// false
	// true
	// false
}

// Strangers who do not know the secret cannot make keys that collide. The bytes do not contain it, and reading
// them needs it.
func ExampleWithSecret() {
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		fmt.Println(err)
		return
	}
	f := bloom.MustNew(1000, 0.01, bloom.WithSecret(secret))
	f.AddString("key")
	data, err := f.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = bloom.Read(bytes.NewReader(data))
	fmt.Println(errors.Is(err, bloom.ErrIncompatible), err)
	_, err = bloom.Read(bytes.NewReader(data), bloom.WithSecret([16]byte{1, 2, 3}))
	fmt.Println(err)
	g, err := bloom.Read(bytes.NewReader(data), bloom.WithSecret(secret))
	fmt.Println(g.ContainsString("key"), err)
	// Output:
	// true bloom: incompatible filters: the data's hash is "siphash", want its secret by WithSecret
	// bloom: incompatible filters: the data was made with another secret than the given one
	// true <nil>
}

// Bytes from a stranger: at most a megabyte is read, and damage is an error.
func ExampleWithMaxBytes() {
	f := bloom.MustNew(1_000_000, 0.01) // what the stranger sends: 1.2 MB
	var sent bytes.Buffer
	if _, err := f.WriteTo(&sent); err != nil {
		fmt.Println(err)
		return
	}
	_, err := bloom.Read(&sent, bloom.WithMaxBytes(1<<20))
	fmt.Println(err)

	_, err = bloom.Read(bytes.NewReader([]byte("not a filter")))
	fmt.Println(errors.Is(err, bloom.ErrCorrupt), err)
	// Output:
	// bloom: filter too large: m = 9592960 bits are 1199120 bytes, want at most 1048576
	// true bloom: corrupt data: it begins with "not a f", want "\x89bloom\n"
}

// In JSON a filter is a string. It can be a pointer or a value.
func ExampleBloomFilter_MarshalText() {
	type state struct {
		Page int                `json:"page"`
		Seen *bloom.BloomFilter `json:"seen"`
	}
	seen := bloom.MustNew(10, 0.01)
	seen.AddString("https://go.dev/")
	text, err := json.Marshal(state{Page: 7, Seen: seen})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))

	var resumed state
	if err := json.Unmarshal(text, &resumed); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resumed.Page, resumed.Seen.ContainsString("https://go.dev/"))
	// Output:
	// {"page":7,"seen":"iWJsb29tCgLsTaqYAw4HAIAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwAAAAAAAAAAZG91YmxlLWhhc2hpbmdtdXJtdXIzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAgAAAAAAAAAAAAAEAAAAA+VvQFJljWIE="}
	// 7 true
}
