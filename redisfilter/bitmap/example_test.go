package bitmap_test

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/redisfilter/bitmap"
)

// A Java service keeps a bitmap by the class BloomFilterHelper and lets it expire an hour after the last add. Some
// copies of that class have the positions of Guava's other strategy: some keys that the service has added show which
// strategy it is.
func ExampleOpen() {
	ctx, client := context.Background(), redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	known := [][]byte{[]byte("order 1"), []byte("order 2"), []byte("order 3")}
	for _, strategy := range []bloom.Strategy{guava.Mitz32, guava.Mitz64} {
		layout, err := bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(strategy))
		if err != nil {
			fmt.Println(err)
			return
		}
		f, err := bitmap.Open(client, "orders", layout, time.Hour, true)
		if err != nil {
			fmt.Println(err)
			return
		}
		found, err := f.ContainsMany(ctx, known, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if found == len(known) {
			added, err := f.Add(ctx, []byte("order 17"))
			fmt.Println(strategy.Name(), added, err)
			return
		}
	}
	fmt.Println("neither strategy, or another m or k")
}

// A saltedMD5 is the layout of MagnusS/Java-BloomFilter: each MD5 digest of a salt byte and the key has four numbers of
// 32 bits with a sign.
type saltedMD5 struct{ m, k int32 }

func newSaltedMD5(n, p float64) saltedMD5 {
	k := math.Ceil(-math.Log2(p))
	return saltedMD5{int32(math.Ceil(k / math.Ln2 * n)), int32(k)}
}

func (l saltedMD5) AppendPositions(dst []uint64, key []byte) []uint64 {
	for i := range l.k {
		digest := md5.Sum(append([]byte{byte(i / 4)}, key...))
		h := int32(binary.BigEndian.Uint32(digest[i%4*4:])) % l.m
		dst = append(dst, uint64(max(h, -h)))
	}
	return dst
}

// A type with the method AppendPositions is the layout of any other library.
func ExamplePositions() {
	layout := newSaltedMD5(600_000, 1e-4)
	positions := layout.AppendPositions(nil, []byte("hello"))
	fmt.Println(layout.m, layout.k, positions[:7], positions[7:])
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	_, err := bitmap.Open(client, "theirs", layout, 0, false) // sends nothing
	fmt.Println(err)
	// Output:
	// 12118639 14 [6481933 4203089 1471590 11572637 4458130 10971599 10024824] [11017698 6766235 9088296 1471903 193429 3694368 7792475]
	// <nil>
}
