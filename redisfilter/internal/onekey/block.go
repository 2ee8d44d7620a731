package onekey

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/internal/digest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// blocked are the strategies that have all bits of a key in one block of 512: in one word of it,
// two, four, eight.
var blocked = []bloom.Strategy{bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8}

// Named is identity.Named with the strategies that have a key's bits in one block.
func Named(text string, opts []bloom.Option) []bloom.Option {
	return identity.Named(text, opts, blocked...)
}

// Words returns in how many words of a block a scheme has the bits of a key. The error wraps
// bloom.ErrInvalid if they are not in one block.
func Words(s bloom.Scheme) (int, error) {
	i := slices.Index(blocked, s.Strategy())
	if i < 0 {
		return 0, fmt.Errorf("%w: strategy %q, want one of the Blocked ones, which have all bits of a key in one block of 512", bloom.ErrInvalid, s.Strategy().Name())
	}
	return 1 << i, nil
}

// Hash returns the digest of a key.
func Hash[K []byte | string](s bloom.Scheme, key K) (h1, h2 uint64) {
	switch key := any(key).(type) {
	case []byte:
		return s.Digest(key)
	case string:
		return s.Digest(digest.Bytes(key))
	}
	panic("never")
}

// A Block is what a key has in its block: a mask for each word, 0 for those that have no bits of
// the key.
type Block struct {
	Index uint64
	Masks [8]uint64
}

// BlockOf returns the block of a key's positions.
func BlockOf(positions []uint64) Block {
	b := Block{Index: positions[0] / 512}
	for _, pos := range positions {
		b.Masks[pos%512/64] |= 1 << (pos % 64)
	}
	return b
}

// Span returns the first and the last word that have bits of the key.
func (b *Block) Span() (first, last int) {
	for last = 7; b.Masks[last] == 0; last-- {
	}
	for ; b.Masks[first] == 0; first++ {
	}
	return first, last
}

// Append appends what scripts read of a key: where the first and the last byte are that they read,
// and for each word, how many bytes it is behind word first, and its mask.
func (b *Block) Append(dst []byte, from, to uint64, first int) []byte {
	dst = send.AppendDecimal(dst, from)
	dst = send.AppendDecimal(dst, to)
	for i, mask := range b.Masks {
		if mask != 0 {
			dst = append(dst, byte(8*(i-first)))
			dst = binary.LittleEndian.AppendUint64(dst, mask)
		}
	}
	return dst
}
