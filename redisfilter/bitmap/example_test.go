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

// A Java service keeps a bitmap with Guava's positions and lets it expire an hour after the last add.
func ExampleOpenRenewing() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	layout, err := bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz64))
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := bitmap.OpenRenewing(client, "orders", layout, time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	added, err := f.Add(context.Background(), []byte("order 17"))
	fmt.Println(added, err)
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
	_, err := bitmap.Open(client, "theirs", layout, 0) // sends nothing
	fmt.Println(err)
	// Output:
	// 12118639 14 [6481933 4203089 1471590 11572637 4458130 10971599 10024824] [11017698 6766235 9088296 1471903 193429 3694368 7792475]
	// <nil>
}
