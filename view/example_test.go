package view_test

import (
	"bytes"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/view"
)

// A store appends a filter to each block of a table, and looks keys up in place.
func ExampleView() {
	builder, err := view.NewBuilder(10, bloom.DoubleHashing) // bits per key
	if err != nil {
		fmt.Println(err)
		return
	}
	block := []byte("some data of the block")
	start := len(block)
	for i := range 1000 {
		builder.Add(fmt.Append(nil, "key ", i))
	}
	block = builder.AppendTo(block)
	fmt.Println(len(block)-start, "bytes")

	// A reader has the bytes in memory, as many as AppendTo appended.
	v, err := view.New(block[start:])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.ContainsString("key 17"), v.ContainsString("another key"))
	// Output:
	// 1266 bytes
	// true false
}

// The bits of a file, without a copy.
func ExampleOver() {
	f := bloom.MustNew(1000, 0.01)
	f.AddString("in")
	file, err := f.MarshalBinary() // or a file that is mapped into memory
	if err != nil {
		fmt.Println(err)
		return
	}
	scheme, err := bloom.ReadScheme(bytes.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	const trailer = 8 // two checksums
	bits := file[uint64(len(file))-scheme.SizeBytes()-trailer:][:scheme.SizeBytes()]
	v, err := view.Over(scheme, bits)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.ContainsString("in"), v.ContainsString("out"))
	// Output: true false
}
