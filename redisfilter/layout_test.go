package redisfilter_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// golden are digests of the names and values of filters of all kinds after some adds. They are frozen from the
// first tag on, and so are the names of shards.
var golden = map[string]string{
	"plain":                 "50aa073d367adeca",
	"growth":                "33cb9693a72d0b18",
	"window":                "bf2290dcc2c280ef",
	"plain/two words":       "fe4038c2bc81f15a",
	"plain/smallest p":      "32c10af608fccca1",
	"plain/shards":          "dfa4bfb6fe9f859b",
	"plain/secret":          "50bdd5dfd3b1bbd3",
	"growth/from two words": "acad6dd9097f82eb",
	"growth/shards":         "3dd70c0d99bd9567",
	"window/two words":      "121bff62c448a11c",
	"window/smallest p":     "3c6760e64b660491",
	"window/shards":         "7ef4fefd0a194311",
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
		words[bloom.Blocked.WordsPerKey(f.Params().K)] = true
		sum := sha256.New()
		for _, name := range f.Keys() {
			value := s.Client.Get(bg, name).Val()
			epoch := value[16:24]
			value = value[:16] + strings.ReplaceAll(value[16:], epoch, "epoch...")
			end := 192 + strings.Index(value[192:], "epoch...") // behind the slots
			first := end - 32*int(binary.LittleEndian.Uint16([]byte(value[14:])))
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
