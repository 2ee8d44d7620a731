package redisfilter_test

import (
	"context"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
)

// A program that keeps its filter in Redis where it is told of one, and in the
// process where not.
func Example() {
	ctx := context.Background()
	openSeen := func() (redisfilter.Set, error) {
		if addr := os.Getenv("SEEN_REDIS"); addr != "" {
			client := redis.NewClient(&redis.Options{Addr: addr})
			return redisfilter.Open(ctx, client, "seen", 1_000_000, 1e-6)
		}
		return redisfilter.NewLocal(1_000_000, 1e-6)
	}
	seen, err := openSeen()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://go.dev/", "https://redis.io/", "https://go.dev/"} {
		added, err := seen.Add(ctx, []byte(url))
		switch {
		case err != nil:
			fmt.Println(err)
		case added:
			fmt.Println("fetch", url)
		}
	}
	// Output:
	// fetch https://go.dev/
	// fetch https://redis.io/
}
