// A program that clones the bit set, compares the clones with it, and restores one.
package main

import (
	"fmt"

	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	f := bloom.New(1000, 4)
	var snapshots []*bitset.BitSet
	for i := range 100 {
		f.AddString(fmt.Sprint(i))
		snapshots = append(snapshots, f.BitSet().Clone())
	}
	for _, s := range snapshots {
		fmt.Println(s.Len(), s.Count(), f.BitSet().IsSuperSet(s), f.BitSet().DifferenceCardinality(s), s)
	}
	f.ClearAll().BitSet().InPlaceUnion(snapshots[49])
	for i := range 1000 {
		fmt.Print(f.TestString(fmt.Sprint(i)), " ")
	}
}
