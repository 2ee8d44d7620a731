package bloom_test

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"github.com/seed3447c163/bloom"
)

func Example() {
	seen, err := bloom.New(1_000_000, 0.01) // a million URLs, at most 1 % false positives
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

func ExampleNew_error() {
	_, err := bloom.New(1_000_000, 1) // 1, and 1 % was meant
	fmt.Println(err)
	// Output:
	// bloom: invalid parameter: p = 1, want 0 < p < 1
}

func ExampleBloomFilter_Contains() {
	f := bloom.MustNew(1000, 0.001)
	f.Add([]byte("apple"))
	fmt.Println(f.Contains([]byte("apple")), "means probably added")
	fmt.Println(f.Contains([]byte("pear")), "means definitely not added")
	// Output:
	// true means probably added
	// false means definitely not added
}

// A key that several filters are asked for is hashed once.
func ExampleBloomFilter_Digest() {
	byDay := []*bloom.BloomFilter{bloom.MustNew(1000, 0.001), bloom.MustNew(5000, 0.001), bloom.MustNew(1000, 0.001)}
	byDay[1].AddString("order-4711")

	h1, h2 := byDay[0].DigestString("order-4711")
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

func ExampleBloomFilter_Stats_overfull() {
	f := bloom.MustNew(1000, 0.01)
	for i := range 3000 { // three times as many as planned
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Printf("about %d keys, rate %.0f %%\n", f.Stats().EstimatedCount, 100*f.Stats().EstimatedFalsePositiveRate)
	// Output:
	// about 2985 keys, rate 43 %
}

func ExampleParamsFor() {
	for _, p := range []float64{0.01, 0.0001} {
		params, err := bloom.ParamsFor(1_000_000, p, bloom.DoubleHashing)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("p = %v: m = %d bits (%.2f a key), k = %d\n", p, params.M, float64(params.M)/1e6, params.K)
	}
	// Output:
	// p = 0.01: m = 9592960 bits (9.59 a key), k = 7
	// p = 0.0001: m = 19172992 bits (19.17 a key), k = 13
}

func ExampleNewStrategy() {
	// The textbook's double hashing, as other systems use it: h1 + i·h2 mod m.
	textbook := bloom.NewStrategy("textbook", bloom.Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
			return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
				x := h1 + uint64(i)*h2
				return x % m, (x + h2) % m, (x + 2*h2) % m, (x + 3*h2) % m
			}, nil
		},
	})
	f := bloom.MustNew(1000, 0.01, bloom.WithStrategy(textbook))
	f.AddString("key")
	fmt.Println(f.ContainsString("key"), f.ContainsString("other"), f.Strategy())
	// Output:
	// true false textbook
}

// An own hash: a file with it is read by who gives the same one.
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

// Keys that are numbers already, sequential ones too, need no bytes and no hash.
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
	keys := []string{"a", "b", "a", "c"}
	added := make([]bool, len(keys))
	fmt.Println(f.AddStrings(keys, added), added)
	fmt.Println(f.ContainsStrings([]string{"a", "x"}, nil))
	// Output:
	// 3 [true true false true]
	// 1
}

// A crawler of the open web: strangers choose the URLs, so the hash is keyed.
func ExampleWithKey() {
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		fmt.Println(err)
		return
	}
	seen := bloom.MustNew(1_000_000, 1e-6, bloom.WithKey(secret))
	fmt.Println(seen.AddString("https://example.com/"), seen.AddString("https://example.com/"))
	// Output:
	// true false
}
