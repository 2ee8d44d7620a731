package redisbloom

import (
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

const (
	// shardBits is the most that one key holds unless told otherwise. A command
	// that works on a whole key of this size (making it, BITOP) takes the server
	// some 10 ms, in which it answers nobody.
	shardBits = 1 << 28

	// maxValueBits is how long a string can be in Redis: 512 MiB.
	maxValueBits = 1 << 32

	maxShards = 1<<16 - 1
)

// A shard is one key in Redis. Each shard is a filter of its own with its own
// header, and a key's bits are all in one of them, so that a key costs one command
// in one cluster slot.
type shard struct {
	name string
	life atomic.Pointer[life]
}

// A life is one incarnation of a shard's key, from when it is made until it is
// lost. An add that began in one life does not write to the front of the next.
type life struct {
	header
	front front
	lost  atomic.Bool // noticed: until Reopen, nothing more is sent
}

// shardNames returns the names of a filter's keys. The first has the name itself,
// however many there are, so that whoever opens the filter with another number of
// shards meets a header that says so. The others' index is a hash tag, so that a
// cluster spreads them over its nodes.
func shardNames(name string, shards int) []string {
	names := []string{name}
	for i := 1; i < shards; i++ {
		names = append(names, fmt.Sprintf("%s:{%d}", name, i))
	}
	return names
}

// checkName refuses names from which no second name in the same slot can be made.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: empty name, want a Redis key", bloom.ErrInvalid)
	case hashTag(name) == "" && strings.ContainsAny(name, "{}"):
		return fmt.Errorf("%w: name %q, want no braces, or a hash tag such as {crawl}", bloom.ErrInvalid, name)
	}
	return nil
}

// shardOf chooses a key's shard from its positions: they come from the whole
// digest, under the secret key if there is one, so that nobody can fill one shard
// alone. Two keys with the same positions are in the same shard. The function is
// frozen.
func shardOf(positions []uint64, shards int) int {
	if shards == 1 {
		return 0
	}
	h := uint64(0x9e3779b97f4a7c15)
	for _, pos := range positions {
		h = (h ^ pos) * 0xd1342543de82ef95
		h ^= h >> 32
	}
	hi, _ := bits.Mul64(h*0xd1342543de82ef95, uint64(shards))
	return int(hi)
}
