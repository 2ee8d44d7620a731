package format

import (
	"github.com/seed3447c163/bloom/internal/failure"
	"strings"
)

// kinds are the files that this module writes.
var kinds = []struct{ magic, holds, reader string }{
	{magic, "a Bloom filter", "bloom.Read or persist.Load"},
	{"\x89blmap\n", "a mapped filter", "persist.Open or persist.OpenReadOnly"},
	{"\x89blooms", "a scalable filter", "scalable.Read or persist.LoadWith"},
	{"\x89bloomr", "a rotating filter", "rotating.Read or persist.LoadWith"},
	{"\x89bloomc", "a counting filter", "counting.Read or persist.LoadWith"},
	{"\x89bloome", "a cascade", "cascade.Read or persist.LoadWith"},
	{"\x89bloomg", "the filter of a guard", "guard.New and Open"},
}

// Unexpected returns the error for data that begins with head instead of magic. It names the kind and the
// reader of other files of this module.
func Unexpected(head []byte, magic string) error {
	for _, k := range kinds {
		if k.magic != magic && strings.HasPrefix(string(head), k.magic) {
			return failure.Errorf(failure.ErrCorrupt, "it holds %s: use %s", k.holds, k.reader)
		}
	}
	return failure.Errorf(failure.ErrCorrupt, "it begins with %q, want %q", head, magic)
}
