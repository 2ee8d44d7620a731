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
	"plain":                "d3a9d6e821af0995",
	"growth":               "cfa500d73ec9ab9c",
	"window":               "47940425b51f4734",
	"plain/Blocked1":       "d9d4ceb3e6f0cba7",
	"plain/Blocked2":       "d72995ef258707fa",
	"plain/Blocked4":       "cd33ed3c77a75f32",
	"plain/SplitBlock":     "05fe64e750417bd1",
	"plain/DoubleHashing":  "e006f9cc46740efa",
	"plain/k=7":            "66051bf0587f0d52",
	"plain/k=13":           "42dfd2001a7414ff",
	"plain/k=43":           "af98cb4937ce7691",
	"plain/SeededHashing":  "694786a709802beb",
	"plain/Guava":          "8fb75e5480e84db2",
	"plain/shards":         "2685ccd5caa0d3c7",
	"plain/key":            "5f4dbaec3db94449",
	"growth/Blocked1":      "bb03507b0be26a1f",
	"growth/Blocked2":      "25ee17501fd8190f",
	"growth/SplitBlock":    "e1f7e05a504093af",
	"growth/DoubleHashing": "92a634ab8db3211c",
	"growth/SeededHashing": "ada46e76363f2c9f",
	"growth/shards":        "9694699e95130d22",
	"window/Blocked2":      "f0ebd3d1970c19b7",
	"window/shards":        "397acb04626d66fb",
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
