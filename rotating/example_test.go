package rotating_test

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/rotating"
)

// A crawler that visits a page again after a day. The clock of the example makes the days pass.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen, err := rotating.New(1_000_000, 1e-6, 24*time.Hour, // it drops one new page in a million
		rotating.WithBloom(bloom.WithHash(bloom.MapHash)), // strangers choose the URLs
		rotating.WithClock(func() time.Time { return now }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 8 {
		added, err := seen.AddString("https://go.dev/")
		if err != nil {
			fmt.Println(err)
		}
		if added {
			fmt.Println(now.Format("Jan 2 15:04"), "fetch")
		}
		now = now.Add(10 * time.Hour)
	}
	// Output:
	// Jan 1 00:00 fetch
	// Jan 2 06:00 fetch
	// Jan 3 12:00 fetch
}
