package counting_test

import (
	"fmt"

	"github.com/seed3447c163/bloom/counting"
)

func Example() {
	sessions, err := counting.New(100_000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions.AddString("alice")
	sessions.AddString("bob")
	fmt.Println(sessions.RemoveString("alice"), sessions.ContainsString("alice"))
	fmt.Println(sessions.RemoveString("carol"), sessions.ContainsString("bob"))
	// Output:
	// true false
	// false true
}
