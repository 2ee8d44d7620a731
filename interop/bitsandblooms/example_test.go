package bitsandblooms_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// A filter from json.Marshal of bits-and-blooms.
func ExampleReadJSON() {
	const old = `{"m":96,"k":7,"b":"AAAAAAAAAGBzncC3E0UPAQAAAADQH9_j"}`
	f, err := bitsandblooms.ReadJSON(strings.NewReader(old))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.ContainsString("key 0"), f.ContainsString("another"))
	fmt.Println("about", f.Stats().EstimatedCount, "keys")
	// Output:
	// true false
	// about 10 keys
}

// The filter of NewWithEstimates(1000, 0.01), written as its WriteTo does, and read.
func Example() {
	f, err := bitsandblooms.New(1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.AddString("hello"), f.AddString("hello"))

	var file bytes.Buffer
	if err := bitsandblooms.Write(&file, f); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Len(), "bytes")
	g, err := bitsandblooms.Read(&file, bloom.WithMaxBytes(1<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.ContainsString("hello"), g.Params().M, g.Params().K)
	// Output:
	// true false
	// 1224 bytes
	// true 9586 7
}
