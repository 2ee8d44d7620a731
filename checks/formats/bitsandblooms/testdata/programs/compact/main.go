// A program that clears and compacts its filter when it is too full.
package main

import (
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	f := bloom.NewWithEstimates(100, 0.01)
	for i := range 1000 {
		if i%80 == 79 {
			f.ClearAll()
			f.BitSet().Compact()
		}
		fmt.Print(f.TestAndAddString(fmt.Sprint(i)), f.TestString(fmt.Sprint(i-40)), f.ApproximatedSize(), " ")
	}
}
