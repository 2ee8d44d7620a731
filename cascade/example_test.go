package cascade_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed3447c163/bloom/cascade"
)

// list yields keys. A real list reads a file or a table.
func list(keys ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range keys {
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
}

// A spam list with its exceptions. The answers for the addresses of both lists are exact.
func Example() {
	spam := list("winner@example.com", "offers@example.net")
	good := list("mum@example.org", "news@example.org", "work@example.org")
	c, err := cascade.New(context.Background(), 0, spam, good)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.ContainsString("offers@example.net"), c.ContainsString("news@example.org"))
	// Output: true false
}
