// Package portable tells which schemes other processes can share.
package portable

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
)

// Check refuses schemes of which nobody can tell whether other processes find
// the same positions. The identity ends with the hash; a strategy's name, which may
// contain anything, comes before.
func Check(s bloom.Scheme) error {
	id := s.Identity()
	switch {
	case strings.HasPrefix(id[strings.LastIndex(id, " hash="):], " hash=maphash:"):
		return fmt.Errorf("%w: hash MapHash, whose digests mean nothing outside one process: want Murmur3 or WithKey", bloom.ErrInvalid)
	case s.Strategy().Name() == "":
		return fmt.Errorf("%w: a strategy without a name, by which processes tell it from another: want one of NewStrategy with a name", bloom.ErrInvalid)
	}
	return nil
}
