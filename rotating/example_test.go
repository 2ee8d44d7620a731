package rotating_test

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/seed3447c163/bloom/rotating"
)

// A crawler that visits a page again after a day. The clock of the example makes the days pass.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen, err := rotating.New(1_000_000, 0.01, 24*time.Hour, rotating.WithClock(func() time.Time { return now }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 8 {
		if seen.AddString("https://go.dev/") {
			fmt.Println(now.Format("Jan 2 15:04"), "fetch")
		}
		now = now.Add(10 * time.Hour)
	}
	// Output:
	// Jan 1 00:00 fetch
	// Jan 2 06:00 fetch
	// Jan 3 12:00 fetch
}

// Users who were active within the last hour: the window begins again at every sign of life.
func ExampleFilter_Renew() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	active, err := rotating.New(100_000, 0.001, time.Hour, rotating.WithGenerations(6), rotating.WithClock(func() time.Time { return now }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		active.Renew([]byte("gopher"))
		now = now.Add(45 * time.Minute)
	}
	fmt.Println(active.ContainsString("gopher"))
	now = now.Add(time.Hour)
	fmt.Println(active.ContainsString("gopher"))
	// Output:
	// true
	// false
}

// The bytes of a message's number are the key, in a buffer on the stack.
func Example_integers() {
	seen, err := rotating.New(100_000, 0.001, time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	var key [8]byte
	for _, id := range []uint64{7, 8, 7, 9} {
		if seen.Add(binary.LittleEndian.AppendUint64(key[:0], id)) {
			fmt.Println("handle", id)
		}
	}
	// Output:
	// handle 7
	// handle 8
	// handle 9
}
