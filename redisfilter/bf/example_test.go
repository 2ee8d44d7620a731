package bf_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter/bf"
)

// Other services use the filter by BF.ADD. It is read into the process for faster lookups.
func ExampleOpen() {
	ctx, client := context.Background(), redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	f, err := bf.Open(ctx, client, "coupons", redisbloom.Plan{N: 100_000, P: 0.001, Expansion: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	added, err := f.Add(ctx, []byte("SPRING"))
	if err != nil {
		fmt.Println(err)
		return
	}
	local, err := bf.Pull(ctx, client, "coupons")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(added, local.Contains([]byte("SPRING")))
}
