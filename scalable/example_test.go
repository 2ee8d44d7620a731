package scalable_test

import (
	"fmt"

	"github.com/seed3447c163/bloom/scalable"
)

func Example() {
	f, err := scalable.New(1000, 0.01) // a thousand keys, or more
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10_000 {
		if _, err := f.AddString(fmt.Sprint("user ", i)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(f.ContainsString("user 9999"))
	for _, l := range f.Layers() {
		fmt.Printf("%5d keys at a rate of %.4f\n", l.N, l.P)
	}
	fmt.Println("below 1 %:", f.Stats().EstimatedFalsePositiveRate < 0.01)
	// Output:
	// true
	//  1000 keys at a rate of 0.0050
	//  2000 keys at a rate of 0.0017
	//  4000 keys at a rate of 0.0008
	//  8000 keys at a rate of 0.0005
	// below 1 %: true
}
