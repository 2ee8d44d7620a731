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
	"plain":                 "d43a20d629107495",
	"growth":                "ad1fe6e058b868d1",
	"window":                "3c711558537f4918",
	"plain/two words":       "d53c9a96db254846",
	"plain/smallest p":      "724b2ef68d80889e",
	"plain/shards":          "35a96cd830c12f4b",
	"plain/secret":          "458448b5e0abda8d",
	"growth/from two words": "c897a6244a477220",
	"growth/shards":         "680d936e3609e36f",
	"window/two words":      "8ae41b665d87fd7a",
	"window/smallest p":     "c8085dad83ae0d37",
	"window/shards":         "472bf1c48c151991",
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
