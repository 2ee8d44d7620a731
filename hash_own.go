package bloom

import (
	"fmt"

	"github.com/seed3447c163/bloom/internal/format"
)

// NewHash returns a hash of your own, for [WithHash]: sum returns the 128-bit digest
// (h1, h2) of a key. Both halves must look random, and independent of each other: a
// strategy may take any bits of either. Package bloomtest tries whether they do. A hash
// that has 64 bits only is made by [NewHash64].
//
// The name identifies the hash: filters are compatible if their hashes' names are equal,
// it is written to files, and to read such a file the hash of that name is given by
// WithHash. So it must never change what it returns. One with the empty name is for
// this process, for instance with a random seed: its filters are compatible with each
// other, and cannot be written.
//
// The function is called from many goroutines at once. It must neither change the key nor
// keep it, or a part of it, beyond the call: the key's memory belongs to the caller of
// Add, which may use it again, and may be on a stack. A function that breaks this makes
// filters miss keys, and may crash the program; neither is noticed here. Add and Contains
// allocate nothing if the function does not. The call costs 1 to 2 ns more than that of a
// hash of this package.
//
// [New] returns an error for a hash without a function, or whose name has more than 255
// bytes or is that of one of this package's.
func NewHash(name string, sum func(key []byte) (h1, h2 uint64)) Hash {
	return newHash(hashDefinition{id: idOwnHash, name: name, sum: sum, bits: 128})
}

// NewHash64 is [NewHash] for a hash of 64 bits, which must all look random. They become
// h1 as they are, for formats that are defined by them. h2 is made from them:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// Among n keys another has the whole digest of one of them with probability n/2^64, which
// [New] takes off p, so that p must stay well above it.
func NewHash64(name string, sum func(key []byte) uint64) Hash {
	return newHash(hashDefinition{id: idOwnHash64, name: name, sum64: sum, bits: 64})
}

func newHash(d hashDefinition) Hash {
	d.serial = serialFor(d.name)
	return Hash{&d}
}

func (h Hash) validate() error {
	switch d := h.def; {
	case d == nil:
		return fmt.Errorf("%w: the hash is the zero Hash, want one such as Murmur3", ErrInvalid)
	case d == &sipHash:
		return fmt.Errorf("%w: hash %v has a secret key, want WithKey", ErrInvalid, h)
	case !d.own():
		return nil
	case d.sum == nil && d.sum64 == nil:
		return fmt.Errorf("%w: hash %q has no function", ErrInvalid, d)
	case len(d.name) > format.MaxName:
		return fmt.Errorf("%w: hash name %.20q… has %d bytes, want at most %d", ErrInvalid, d.name, len(d.name), format.MaxName)
	case builtinHash(d.name) != nil:
		return fmt.Errorf("%w: hash name %q is taken by this package", ErrInvalid, d.name)
	}
	return nil
}
