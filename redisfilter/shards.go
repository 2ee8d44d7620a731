package redisfilter

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// maxShards is the largest number of shards.
const maxShards = 4096

// clusterSlots is the number of slots of a cluster.
const clusterSlots = 1 << 14

// shardName returns the name of shard i. The first shard always has the filter's name, so that a process which opens
// the filter with another number of shards finds a header. The other names have a hash tag: i and a number. The number
// is chosen so that the cluster slots of the shards are spread evenly. If the filter's name has a hash tag, all shards
// are in its slot.
//
// The names must never change: filters in Redis have them.
func shardName(name string, i, shards int) string {
	switch {
	case i == 0:
		return name
	case send.HashTag(name) != "":
		return fmt.Sprintf("%s:{%d}", name, i)
	}
	// To find an exact slot of 16384 by trial would take long, so the precision is 1/64 of the slots.
	width := clusterSlots / (2 * min(shards, 64))
	place := clusterSlot(name) + clusterSlots*i/shards
	for try := 0; ; try++ {
		tag := fmt.Sprintf("%d.%d", i, try)
		if (clusterSlot(tag)-place+2*clusterSlots)%clusterSlots < width {
			return name + ":{" + tag + "}"
		}
	}
}

// clusterSlot returns the slot of a text without braces, by its CRC-16/XMODEM.
func clusterSlot(text string) int {
	crc := uint16(0)
	for i := range len(text) {
		crc ^= uint16(text[i]) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return int(crc) % clusterSlots
}

// checkName refuses an empty name, and one with braces but no hash tag, because no second key in the same slot could be
// made from it.
func checkName(name string) error {
	switch {
	case name == "":
		return send.Errorf(bloom.ErrInvalid, "empty name, want one for a Redis key")
	case send.HashTag(name) == "" && strings.ContainsAny(name, "{}"):
		return send.Errorf(bloom.ErrInvalid, "name %q, want no braces, or a hash tag such as {crawl}", name)
	}
	return nil
}

// shardOf returns the shard of a key, from its positions. The positions depend on the whole digest, and so on the
// secret, if any: without the secret, an attacker cannot fill one shard. The result must never change: filters in Redis
// depend on it.
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
