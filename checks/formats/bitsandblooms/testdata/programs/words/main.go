// A program that stores the words of a filter in its own message format.
package main

import (
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	f := bloom.NewWithEstimates(100, 0.01)
	for i := range 100 {
		f.AddString(fmt.Sprint(i))
	}
	message := make([]int64, len(f.BitSet().Words()))
	for i, word := range f.BitSet().Words() {
		message[i] = int64(word)
	}
	fmt.Println(f.Cap(), f.K(), message)

	words := make([]uint64, len(message))
	for i, word := range message {
		words[i] = uint64(word)
	}
	g := bloom.FromWithM(words, f.Cap(), f.K())
	for i := range 1000 {
		fmt.Print(g.TestString(fmt.Sprint(i)), " ")
	}
}
