package redisbloom_test

import (
	"fmt"

	"github.com/seed3447c163/bloom/interop/redisbloom"
)

// A filter is built in this process and loaded into the server by BF.LOADCHUNK.
func Example() {
	f, err := redisbloom.New(redisbloom.Plan{N: 1000, P: 0.01, Expansion: 2}) // BF.RESERVE users 0.01 1000
	if err != nil {
		panic(err)
	}
	if _, err := f.Add([]byte("alice")); err != nil { // BF.ADD users alice
		panic(err)
	}
	for iterator, data := range f.Chunks() {
		fmt.Println("BF.LOADCHUNK users", iterator, len(data), "bytes")
	}
	// Output:
	// BF.LOADCHUNK users 1 73 bytes
	// BF.LOADCHUNK users 1385 1384 bytes
}
