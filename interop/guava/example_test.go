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
		panic(err)
	}
	fmt.Println(f.ContainsString("old@example.com"))
	fmt.Println(f.ContainsString("new@example.com"))
	fmt.Println(f.AddString("new@example.com"))
	// Output:
	// true
	// false
	// true
}

// The filter of BloomFilter.create(funnel, 1000, 0.01), where the funnel of a class is
//
//	(user, into) -> into.putString(user.name, UTF_8).putLong(user.id)
func ExampleWrite() {
	type user struct {
		name string
		id   int64
	}
	f, err := guava.New(1000, 0.01, guava.Since334)
	if err != nil {
		panic(err)
	}
	users := typed.New(f, func(dst []byte, u user) []byte { return guava.LongFunnel(append(dst, u.name...), u.id) })
	fmt.Println(users.Add(user{"Anna", 42}), users.Contains(user{"Anna", 42}), users.Contains(user{"Anna", 43}))
	var file bytes.Buffer
	if err := guava.Write(&file, f); err != nil {
		panic(err)
	}
	fmt.Printf("%d bytes: % x …\n", file.Len(), file.Bytes()[:6])
	// Output:
	// true true false
	// 1206 bytes: 01 07 00 00 00 96 …
}
