package redisfilter_test

import (
	"crypto/sha256"
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
	"plain":                 "2928c51831cf20c4",
	"growth":                "842ce95ad5dc6968",
	"window":                "0594937a3bfa376e",
	"plain/two words":       "407c705cca34fc67",
	"plain/smallest p":      "4a064026f1ab706a",
	"plain/shards":          "905a94a21decbfaa",
	"plain/secret":          "9681242fe4a1214b",
	"growth/from two words": "9356b9bad88fd469",
	"growth/shards":         "8b9427b4483f3459",
	"window/two words":      "b8a43c3fce580f60",
	"window/smallest p":     "c74be5a1069d5ba2",
	"window/shards":         "0d0ecbb09cf331c5",
}

// TestGolden compares the bytes of filters with those of all earlier versions, without what is random: the epoch.
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
