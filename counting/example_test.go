package counting_test

import (
	"fmt"

	"github.com/seed3447c163/bloom/counting"
)

func Example() {
	sessions, err := counting.New(100_000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions.AddString("alice")
	sessions.AddString("bob")
	fmt.Println(sessions.RemoveString("alice"), sessions.ContainsString("alice"))
	fmt.Println(sessions.RemoveString("carol"), sessions.ContainsString("bob"))
	// Output:
	// true false
	// false true
}

// Each Add counts: a key is there until it has been removed as often as it was added.
func ExampleFilter_Remove() {
	open, err := counting.New(1000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	open.AddString("file")
	open.AddString("file")
	open.RemoveString("file")
	fmt.Println(open.ContainsString("file"))
	open.RemoveString("file")
	fmt.Println(open.ContainsString("file"))
	// Output:
	// true
	// false
}

// A plain filter with the same keys takes a quarter of the memory.
func ExampleFilter_BloomFilter() {
	f, err := counting.New(1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("apple")
	plain := f.BloomFilter()
	fmt.Println(plain.ContainsString("apple"), f.Stats().SizeBytes/plain.SizeBytes())
	// Output:
	// true 4
}
