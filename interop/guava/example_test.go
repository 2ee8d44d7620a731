package guava_test

import (
	"bytes"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/typed"
)

// fromJava was written by a Java program: BloomFilter.create(stringFunnel(UTF_8), 10, 0.01) after
// put("old@example.com").
var fromJava = []byte("\x01\x07\x00\x00\x00\x02" +
	"\x04\x00\x04\x04\x00\x00\x04\x00" +
	"\x00\x04\x00\x00\x04\x00\x00\x04")

// A filter from a Java program is queried and gets another key.
func ExampleRead() {
	f, err := guava.Read(bytes.NewReader(fromJava), bloom.WithMaxBytes(1<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.ContainsString("old@example.com"))
	fmt.Println(f.ContainsString("new@example.com"))
	fmt.Println(f.AddString("new@example.com"))
	// Output:
	// true
	// false
	// true
}

// The filter of BloomFilter.create(Funnels.longFunnel(), 1000, 0.01), written for BloomFilter.readFrom.
func ExampleWrite() {
	f, err := guava.New(1000, 0.01, guava.Since33_4)
	if err != nil {
		fmt.Println(err)
		return
	}
	numbers := typed.New(f, guava.LongFunnel)
	for id := range int64(1000) {
		numbers.Add(id)
	}
	var file bytes.Buffer
	if err := guava.Write(&file, f); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes: % x …\n", file.Len(), file.Bytes()[:6])
	fmt.Println("about", f.Stats().EstimatedCount, "keys")
	// Output:
	// 1206 bytes: 01 07 00 00 00 96 …
	// about 985 keys
}

// A class with a funnel of its own:
//
//	(user, into) -> into.putString(user.name, UTF_8).putLong(user.id)
func ExampleLongFunnel() {
	type user struct {
		name string
		id   int64
	}
	f, err := guava.New(1000, 0.01, guava.Since33_4)
	if err != nil {
		fmt.Println(err)
		return
	}
	users := typed.New(f, func(dst []byte, u user) []byte {
		dst = append(dst, u.name...)
		return guava.LongFunnel(dst, u.id)
	})
	fmt.Println(users.Add(user{"Anna", 42}), users.Contains(user{"Anna", 42}), users.Contains(user{"Anna", 43}))
	// Output: true true false
}
