package parquet_test

import (
	"fmt"
	"os"

	"github.com/seed3447c163/bloom/interop/parquet"
)

// A query looks for a name, and skips the row groups that cannot have it.
func Example() {
	file, err := os.Open("testdata/small.parquet")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	for c, err := range parquet.Columns(file, info.Size()) {
		if err != nil {
			panic(err)
		}
		if c.Path != "text" {
			continue
		}
		found, err := c.Contains(file, []byte("name 41"))
		if err != nil {
			panic(err)
		}
		fmt.Printf("row group %d: read it: %v\n", c.RowGroup, found)
	}
	// Output:
	// row group 0: read it: false
	// row group 1: read it: true
}
