// A program that changes the words of a filter and sets them again.
package main

import (
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	f := bloom.New(1024, 8)
	fmt.Println(f.BitSet().None(), f.BitSet().Any(), f.BitSet().All())
	words := f.BitSet().Bytes()
	for i := range words {
		words[i] = ^uint64(0)
	}
	f.BitSet().SetBitsetFrom(words)
	fmt.Println(f.BitSet().None(), f.BitSet().Any(), f.BitSet().All(), f.TestString("key"), f.BitSet().Count())
}
