package redisfilter_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
)

// Several crawlers share the URLs that they have seen in the last two days. Strangers choose the URLs, so positions
// depend on a secret.
func ExampleOpen() {
	ctx, secret := context.Background(), [16]byte{0x3b, 0x52}
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
	defer client.Close()
	seen, err := redisfilter.Open(ctx, client, "seen", 10_000_000, 1e-6, // keys of one generation, here of a day
		redisfilter.WithGenerations(24*time.Hour, 2), redisfilter.WithBloom(bloom.WithSecret(secret)))
	if err != nil {
		fmt.Println(err)
		return
	}
	links := [][]byte{[]byte("https://example.com/a"), []byte("https://example.com/b")}
	added := make([]bool, len(links))
	_, err = seen.AddMany(ctx, links, added)
	for i, isNew := range added {
		if isNew {
			fmt.Printf("fetch %s\n", links[i])
		}
	}
	if err != nil {
		fmt.Println(err) // call again with the same links
	}
}

// A batch needs one round trip for each 500 keys. Here no mail may be sent twice, so keys that may not be new are
// dropped.
func ExampleFilter_AddMany() {
	ctx, client := context.Background(), redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	f, err := redisfilter.Open(ctx, client, "mails", 1_000_000, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	added := make([]bool, 2)
	count, err := f.AddMany(ctx, [][]byte{[]byte("a@example.com"), []byte("b@example.com")}, added)
	if failed := (*redisfilter.AddError)(nil); errors.As(err, &failed) {
		for _, i := range failed.Unsure {
			added[i] = false
		}
	}
	fmt.Println(count, added, err)
}
