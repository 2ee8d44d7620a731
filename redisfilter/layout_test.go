package redisfilter_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// golden are digests of the names and values of filters of all kinds after some adds. They are frozen from the
// first tag on, and so are the names of shards.
var golden = map[string]string{
	"plain":                 "5101708364818472",
	"growth":                "2870913264b7c532",
	"window":                "55cfbabcf5038ce3",
	"plain/two words":       "8d3149205d5dc565",
	"plain/smallest p":      "33a8919ecb7303be",
	"plain/shards":          "c37b4320a48f2679",
	"plain/secret":          "d58cfef23ad38c89",
	"growth/from two words": "5ed9d6259c17f2a2",
	"growth/shards":         "83042d8f1c2e938b",
	"window/two words":      "a59a3ece51092aad",
	"window/smallest p":     "03fe374925e9a6fa",
	"window/shards":         "bac53f4e8adb4e0b",
}

// TestGolden compares the bytes of filters with those of all earlier versions, without what is random: the epoch,
// and the tag of the slot.
func TestGolden(t *testing.T) {
	now := time.Duration(1_800_000_000) * time.Second
	defer redisfilter.SetClock(func() time.Duration { return now })()
	words := map[int]bool{}
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		s.Client.Set(bg, "clock", now.Milliseconds(), 0)
		f := k.open(t, s.Client)
		_, err := f.AddMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		words[redisfilter.WordsPerKey(f.Params().K)] = true
		sum := sha256.New()
		for _, name := range f.Keys() {
			value := s.Client.Get(bg, name).Val()
			epoch := value[16:24]
			value = value[:16] + strings.ReplaceAll(value[16:], epoch, "epoch...")
			end := 192 + strings.Index(value[192:], "epoch...") // behind the slots
			first := end - 64*int(binary.LittleEndian.Uint16([]byte(value[14:])))
			value = value[:first] + "tag....." + value[first+8:]
			fmt.Fprint(sum, name, len(value), value)
		}
		require.Equal(t, golden[k.name], fmt.Sprintf("%x", sum.Sum(nil)[:8]), k.name)
	})
	require.Equal(t, map[int]bool{2: true, 4: true}, words)
}

// TestGoldenNames: the names of shards are spread over a cluster, or stay in the slot of a hash tag.
func TestGoldenNames(t *testing.T) {
	s := redistest.Start(t)
	for name, want := range map[string]string{
		"p:seen":        "p:seen p:seen:{1.1} p:seen:{2.4} p:seen:{3.12} p:seen:{4.41}",
		"p:{crawl}seen": "p:{crawl}seen p:{crawl}seen:{1} p:{crawl}seen:{2} p:{crawl}seen:{3} p:{crawl}seen:{4}",
	} {
		f, err := redisfilter.Open(bg, s.Client, name, 1000, 0.01, redisfilter.WithShards(5))
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(f.Keys(), " "))
	}
}
