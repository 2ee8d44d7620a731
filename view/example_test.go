package view_test

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
)

// A store appends a filter to each block of a table, and looks keys up in place.
func ExampleView() {
	w, err := view.NewWriter(10, bloom.DoubleHashing) // bits per key
	if err != nil {
		fmt.Println(err)
		return
	}
	block := []byte("some data of the block")
	start := len(block)
	for i := range 1000 {
		w.Add(fmt.Append(nil, "key ", i))
	}
	block = w.AppendTo(block)
	fmt.Println(len(block)-start, "bytes")

	// A reader has the bytes in memory, as many as AppendTo appended.
	v, err := view.Parse(block[start:])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.ContainsString("key 17"), v.ContainsString("another key"))
	// Output:
	// 1266 bytes
	// true false
}
