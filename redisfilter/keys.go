package redisfilter

import (
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

const (
	// shardBits is the most that one key holds unless told otherwise: 30 MiB. A command
	// that works on a whole key of this size (making it, BITOP) takes the server
	// some 10 ms, in which it answers no client. Redis asks its allocator for 1 MiB more, and
	// that has no size between 32 and 40 MiB.
	shardBits = 30 << 23

	// maxValueBits is how long a string can be in Redis: 512 MiB.
	maxValueBits = 1 << 32

	// maxShardBits leaves room for the header and the slots.
	maxShardBits = maxValueBits - 1<<17

	maxShards = 1<<16 - 1
)

// A shard is one key in Redis. Each shard is a filter of its own with its own
// header, and a key's bits are all in one of them, so that a key costs one command
// in one cluster slot.
type shard struct {
	name string
	life atomic.Pointer[life]
}

// shardNames returns the names of a filter's keys. The first has the name itself,
// however many there are, so that a process that opens the filter with another number of
// shards finds a header that says so. The others have a hash tag of their index and a
// number, which is so chosen that the shards are spread evenly over a cluster's slots:
// shard i is about i/shards of all slots behind the first one, whose place follows from
// the name. A name with a hash tag of its own keeps all shards in its slot.
//
// The function is frozen.
func shardNames(name string, shards int) []string {
	names := make([]string, 1, shards)
	names[0] = name
	free := hashTag(name) == ""
	// To find one of 16384 slots by trial would take long: of more shards than this, the place
	// is no more exact.
	places := min(shards, 256)
	first := clusterSlot(name)
	for i := 1; i < shards; i++ {
		tag := fmt.Sprint(i)
		if free {
			place := first + clusterSlots*i/shards
			for try := 0; ; try++ {
				tag = fmt.Sprintf("%d.%d", i, try)
				ahead := (clusterSlot(tag) - place + 2*clusterSlots) % clusterSlots
				if ahead < clusterSlots/(2*places) {
					break
				}
			}
		}
		names = append(names, name+":{"+tag+"}")
	}
	return names
}

// clusterSlots is how many slots a cluster has.
const clusterSlots = 1 << 14

// clusterSlot returns the slot of a text without braces: its CRC16 in the variant XMODEM.
func clusterSlot(text string) int {
	crc := uint16(0)
	for i := range len(text) {
		crc = crc<<8 ^ crc16[byte(crc>>8)^text[i]]
	}
	return int(crc) % clusterSlots
}

var crc16 = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
		table[i] = crc
	}
	return table
}()

// checkKey refuses keys from which no second one in the same slot can be made.
func checkKey(key string) error {
	if hashTag(key) == "" && strings.ContainsAny(key, "{}") {
		return fmt.Errorf("%w: name %q, want no braces, or a hash tag such as {crawl}", bloom.ErrInvalid, key)
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
