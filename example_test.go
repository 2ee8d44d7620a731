package bloom_test

import (
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
func ExampleBloomFilter_Hash() {
	byDay := []*bloom.BloomFilter{bloom.MustNew(1000, 0.001), bloom.MustNew(5000, 0.001), bloom.MustNew(1000, 0.001)}
	byDay[1].AddString("order-4711")

	h1, h2 := byDay[0].HashString("order-4711")
	for day, f := range byDay {
		if f.ContainsHash(h1, h2) {
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
	fmt.Println(a.ContainsString("from a"), a.ContainsString("from b"), a.EstimatedCount())

	other := bloom.MustNew(2000, 0.001)
	fmt.Println(a.Union(other))
	// Output:
	// true true 2
	// bloom: incompatible filters: m = 14400 and 28800
}

func ExampleBloomFilter_EstimatedFalsePositiveRate() {
	f := bloom.MustNew(1000, 0.01)
	for i := range 3000 { // three times as many as planned
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Printf("about %d keys, rate %.0f %%\n", f.EstimatedCount(), 100*f.EstimatedFalsePositiveRate())
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
	textbook := bloom.NewStrategy("textbook", func(h1, h2 uint64, i int, m uint64) uint64 {
		return (h1 + uint64(i)*h2) % m
	})
	f := bloom.MustNew(1000, 0.01, bloom.WithStrategy(textbook))
	f.AddString("key")
	fmt.Println(f.ContainsString("key"), f.ContainsString("other"), f.Strategy())
	// Output:
	// true false textbook
}

func ExampleBloomFilter_AddMany() {
	f := bloom.MustNew(1_000_000, 0.001, bloom.WithStrategy(bloom.Blocked))
	keys := []string{"a", "b", "a", "c"}
	added := make([]bool, len(keys))
	fmt.Println(f.AddManyStrings(keys, added), added)
	fmt.Println(f.ContainsManyStrings([]string{"a", "x"}, nil))
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
