package rebloom_test

import (
	"fmt"

	"github.com/seed3447c163/bloom/interop/rebloom"
)

// A filter is built in this process and loaded into the server by BF.LOADCHUNK.
func Example() {
	f, err := rebloom.New(1000, 0.01) // BF.RESERVE users 0.01 1000
	if err != nil {
		panic(err)
	}
	if _, err := f.AddString("alice"); err != nil { // BF.ADD users alice
		panic(err)
	}
	for chunk := range f.Chunks() {
		fmt.Println("BF.LOADCHUNK users", chunk.Iterator, len(chunk.Data), "bytes")
	}
	// Output:
	// BF.LOADCHUNK users 1 73 bytes
	// BF.LOADCHUNK users 1385 1384 bytes
}
