package format

import (
	"strings"

	"github.com/seed3447c163/bloom/internal/failure"
)

// The first bytes of all files that this module writes, by kind. A byte with the version follows them.
const (
	Filter   = "\x89bloom\n"
	Mapped   = "\x89blmap\n"
	Scalable = "\x89blooms"
	Rotating = "\x89bloomr"
	Counting = "\x89bloomc"
	Cascade  = "\x89bloome"
	Guard    = "\x89bloomg"
)

// A Kind describes a kind of file, for errors.
type Kind struct {
	Magic, holds, reader string
	Header               int // offset of the header of the first filter; not used for Guard
}

// Kinds lists all kinds.
var Kinds = []Kind{
	{Filter, "a Bloom filter", "bloom.Read or persist.Load", 0},
	{Mapped, "a mapped filter", "persist.Open or persist.OpenReadOnly", 64},
	{Scalable, "a scalable filter", "scalable.Read or persist.LoadWith", framed(3)},
	{Rotating, "a rotating filter", "rotating.Read or persist.LoadWith", framed(9)},
	{Counting, "a counting filter", "counting.Read or persist.LoadWith", 8},
	{Cascade, "a cascade", "cascade.Read or persist.LoadWith", framed(1)},
	{Guard, "the filter of a guard", "guard.New and Open", framed(2)},
}

// framed returns the size of a frame's magic with its version, some numbers, and their checksum.
func framed(numbers int) int { return 8 + numbers*8 + TrailerBytes }

// Unexpected returns the error for data that begins with head instead of magic. If the data is another kind of file of
// this module, the error names the kind and the function that reads it.
func Unexpected(head []byte, magic string) error {
	for _, k := range Kinds {
		if k.Magic != magic && strings.HasPrefix(string(head), k.Magic) {
			return failure.Errorf(failure.ErrIncompatible, "it holds %s: use %s", k.holds, k.reader)
		}
	}
	return failure.Errorf(failure.ErrCorrupt, "it begins with %q, want %q", head, magic)
}
