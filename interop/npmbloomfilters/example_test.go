package npmbloomfilters_test

import (
	"fmt"
	"os"

	"github.com/seed3447c163/bloom/interop/npmbloomfilters"
)

// A filter for a page in the browser: BloomFilter.fromJSON(await response.json()).
func Example() {
	f, err := npmbloomfilters.New(3, 0.1)
	if err != nil {
		panic(err)
	}
	f.AddString("alice")
	f.AddString("bob")
	if err := npmbloomfilters.Write(os.Stdout, f); err != nil {
		panic(err)
	}
	fmt.Println()
	// Output: {"type":"BloomFilter","_size":15,"_nbHashes":4,"_filter":{"size":16,"content":"wwI="},"_seed":78187493520}
}
