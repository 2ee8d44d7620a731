package main

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// loadMapped reads a filter of persist.Open, which other programs may be using. Its
// strategy, hash and seed are those that the header names; opts may have the key.
func loadMapped(path string, head []byte, opts []bloom.Option) (*bloom.BloomFilter, error) {
	if path == "-" {
		return nil, fmt.Errorf("a memory-mapped filter on standard input, want its file's name")
	}
	file, err := persist.OpenReadOnly(path, append(mappedOptions(head), opts...)...)
	if err != nil {
		return nil, hint(err)
	}
	f := file.Snapshot()
	return f, file.Close()
}

// identityText is the identity of a scheme that this program knows, as it stands in a mapped
// file's header: strategy, hash, and seed or check of the key.
var identityText = regexp.MustCompile(`^m=\d+ k=\d+ strategy="([a-z0-9-]+)" hash=([a-z0-9]+):([0-9a-f]{16})$`)

// identity finds the identity in a mapped file's header. Whether the header is sound is for
// persist to say.
func identity(head []byte) (strategy, hash string, seed uint64) {
	const at = 40
	if len(head) < at {
		return "", "", 0
	}
	length := int(binary.LittleEndian.Uint16(head[14:]))
	parts := identityText.FindSubmatch(head[at:min(len(head), at+length)])
	if parts == nil {
		return "", "", 0
	}
	seed, err := strconv.ParseUint(string(parts[3]), 16, 64)
	if err != nil {
		panic(err) // the pattern has 16 digits
	}
	return string(parts[1]), string(parts[2]), seed
}

// mappedOptions are those that the filter was made with, as far as its header tells.
func mappedOptions(head []byte) (opts []bloom.Option) {
	strategy, hash, seed := identity(head)
	all := append(slices.Clone(strategies), bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8)
	for _, s := range all {
		if s.Name() == strategy {
			opts = append(opts, bloom.WithStrategy(s))
		}
	}
	if hash == bloom.Murmur3.String() && seed != 0 {
		opts = append(opts, bloom.WithSeed(seed))
	}
	return opts
}

// mappedWantsKey reports whether a mapped filter was made with a secret key.
func mappedWantsKey(head []byte) bool {
	_, hash, _ := identity(head)
	return hash == "siphash"
}
