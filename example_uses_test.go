package bloom_test

import (
	"bytes"
	"encoding/json"
	"expvar"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
)

// A crawler: many workers find the same links, and each page is fetched once, by the
// worker whose AddString returns true. No lock, no check before the add.
func Example_crawler() {
	links := map[string][]string{
		"/":      {"/a", "/b", "/c"},
		"/a":     {"/", "/b", "/c"},
		"/b":     {"/", "/a", "/deep"},
		"/c":     {"/deep", "/a"},
		"/deep":  {"/"},
		"/alone": nil,
	}
	// A page that is taken for seen is never fetched: a small p. Strangers choose the
	// URLs: a keyed hash.
	seen := bloom.MustNew(1_000_000, 1e-6, bloom.WithHash(bloom.MapHash))

	var fetched atomic.Int64
	var wg sync.WaitGroup
	var visit func(url string)
	visit = func(url string) {
		if !seen.AddString(url) {
			return
		}
		fetched.Add(1)
		for _, link := range links[url] {
			wg.Go(func() { visit(link) })
		}
	}
	visit("/")
	wg.Wait()
	fmt.Println(fetched.Load(), "pages fetched")
	// Output:
	// 5 pages fetched
}

// A guard in front of a store: keys that are definitely not there never cost a read.
func Example_guard() {
	store := map[string]string{"alice": "1 Main St", "bob": "2 Side St"} // on a disk, or behind a network
	reads := 0

	guard := bloom.MustNew(1000, 0.01)
	for name := range store {
		guard.AddString(name) // and from now on with every insert, before the insert
	}
	lookup := func(name string) (string, bool) {
		if !guard.ContainsString(name) {
			return "", false // definitely not there
		}
		reads++
		address, ok := store[name] // probably there: the store knows
		return address, ok
	}

	found := 0
	for i := range 1000 {
		if _, ok := lookup(fmt.Sprint("user", i)); ok {
			found++
		}
	}
	address, ok := lookup("alice")
	fmt.Println(address, ok)
	fmt.Printf("%d found of 1001, %d reads\n", found+1, reads)
	// Output:
	// 1 Main St true
	// 1 found of 1001, 1 reads
}

// A block list that is too large to carry around, and a small exact list of those
// who are known to be taken for members and are none.
func Example_spam() {
	spammers := bloom.MustNew(10_000, 0.01)
	for i := range 10_000 {
		spammers.AddString(fmt.Sprintf("spammer%d@example.com", i))
	}
	// Whoever has the true list finds the false positives among the addresses that matter.
	customers := make([]string, 1000)
	for i := range customers {
		customers[i] = fmt.Sprintf("customer%d@example.org", i)
	}
	exempt := map[string]bool{}
	for _, address := range customers {
		if spammers.ContainsString(address) {
			exempt[address] = true
		}
	}

	blocked := func(address string) bool { return spammers.ContainsString(address) && !exempt[address] }
	wrong := 0
	for _, address := range customers {
		if blocked(address) {
			wrong++
		}
	}
	fmt.Println(blocked("spammer17@example.com"), wrong, "customers blocked")
	fmt.Printf("%d bytes in place of %d addresses, and %d exemptions\n", spammers.SizeBytes(), 10_000, len(exempt))
	// Output:
	// true 0 customers blocked
	// 11992 bytes in place of 10000 addresses, and 14 exemptions
}

// A filter that a Java service fills and a Go service asks, or the other way round:
//
//	BloomFilter<CharSequence> f = BloomFilter.create(Funnels.stringFunnel(UTF_8), 1_000_000, 0.01);
//	f.put("https://go.dev/");
//	f.writeTo(out);
func Example_java() {
	var file bytes.Buffer // what Java has written; here, by the same steps in Go

	fromJava, err := guava.New(1_000_000, 0.01, guava.Since33_4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fromJava.AddString("https://go.dev/")
	if err := guava.Write(&file, fromJava); err != nil {
		fmt.Println(err)
		return
	}

	f, err := guava.Read(&file, bloom.WithMaxBytes(1<<30))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.ContainsString("https://go.dev/"), f.ContainsString("https://java.com/"))
	// Output:
	// true false
}

// One pass over the bits gives everything that is worth watching. A warning comes
// while there is time to build a larger filter.
func ExampleBloomFilter_Stats() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // or this example would never print the same
			}
			return a
		},
	}))
	f := bloom.MustNew(1000, 0.01)
	watch := func() { // in a service: every minute, from a time.Ticker
		s := f.Stats()
		switch load := s.Load(); {
		case load > 1:
			log.Error("filter overloaded", "keys", s.EstimatedCount, "rate", fmt.Sprintf("%.3f", s.EstimatedFalsePositiveRate))
		case load > 0.8:
			log.Warn("filter nearly full", "keys", s.EstimatedCount, "planned", s.N)
		}
	}
	for i := range 1500 {
		f.AddString(fmt.Sprint("key ", i))
		if (i+1)%300 == 0 {
			watch()
		}
	}
	log.Info("made with", "filter", f.String()) // in constant time: nothing is counted
	// Output:
	// level=WARN msg="filter nearly full" keys=898 planned=1000
	// level=ERROR msg="filter overloaded" keys=1198 rate=0.023
	// level=ERROR msg="filter overloaded" keys=1502 rate=0.058
	// level=INFO msg="made with" filter="bloom.BloomFilter(n=1000 p=0.01 m=9600 k=7 strategy=double-hashing hash=murmur3 bytes=1200)"
}

// With expvar, the numbers are on /debug/vars, computed when somebody looks.
func ExampleStats_expvar() {
	f := bloom.MustNew(1000, 0.01)
	expvar.Publish("seen", expvar.Func(func() any { return f.Stats() }))

	f.AddString("key")
	var s bloom.Stats
	if err := json.Unmarshal([]byte(expvar.Get("seen").String()), &s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.EstimatedCount, "key,", s.SizeBytes, "bytes")
	// Output:
	// 1 key, 1200 bytes
}
