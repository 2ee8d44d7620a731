package redisfilter_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// golden are digests of the names and values of filters of all kinds after some adds. They are frozen from the
// first tag on, and so are the names of shards.
var golden = map[string]string{
	"plain":                "04225878309de58c",
	"growth":               "df514e7543321252",
	"window":               "a0b0a24985db0bd9",
	"plain/Blocked1":       "d758f6a5308b0040",
	"plain/Blocked2":       "3cd096e1368f844e",
	"plain/Blocked4":       "10a61893b43ef362",
	"plain/SplitBlock":     "e1d99fbaf6a2b727",
	"plain/DoubleHashing":  "e8a3b4944d0acca0",
	"plain/SeededHashing":  "3131925590d53de5",
	"plain/Guava":          "1596bf879251c8cd",
	"plain/shards":         "1bc1fb2bd78752be",
	"plain/key":            "73046e7f96ae1dfa",
	"growth/Blocked1":      "e91587518c143db1",
	"growth/Blocked2":      "0d175efe2251a567",
	"growth/SplitBlock":    "99160e85802b9332",
	"growth/DoubleHashing": "4edca6eb018cef6d",
	"growth/SeededHashing": "4d1a64a087e9cc52",
	"growth/shards":        "f8caa41605997dc4",
	"window/Blocked2":      "2a3452fbb8254bed",
	"window/shards":        "fdc8a9036ec6bcbb",
}

// TestGolden compares the bytes of filters with those of all earlier versions, without what is random: the epoch,
// the owner of the slot, and the time of its last add.
func TestGolden(t *testing.T) {
	defer redisfilter.SetClock()()
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		s.Client.Set(bg, "clock", 1_800_000_000_000, 0)
		f := k.open(t, s.Client)
		_, err := f.AddMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		sum := sha256.New()
		for _, name := range f.Keys() {
			value := s.Client.Get(bg, name).Val()
			epoch := value[16:24]
			value = value[:16] + strings.ReplaceAll(value[16:], epoch, "epoch...")
			end := 192 + strings.Index(value[192:], "epoch...") // behind the slots
			first := end - 24*int(binary.LittleEndian.Uint16([]byte(value[14:])))
			value = value[:first] + "owner..." + value[first+8:first+16] + "time...." + value[first+24:]
			fmt.Fprint(sum, name, len(value), value)
		}
		require.Equal(t, golden[k.name], fmt.Sprintf("%x", sum.Sum(nil)[:8]), k.name)
	})
}

// TestGoldenNames: the names of shards are spread over a cluster, or stay in the slot of a hash tag.
func TestGoldenNames(t *testing.T) {
	s := redistest.Start(t)
	for name, want := range map[string]string{
		"seen":        "p:seen p:seen:{1.1} p:seen:{2.4} p:seen:{3.12} p:seen:{4.41}",
		"{crawl}seen": "p:{crawl}seen p:{crawl}seen:{1} p:{crawl}seen:{2} p:{crawl}seen:{3} p:{crawl}seen:{4}",
	} {
		f, err := redisfilter.Open(bg, s.Client, name, 1000, 0.01, redisfilter.WithShards(5), redisfilter.WithPrefix("p:"))
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(f.Keys(), " "))
	}
}
