// Package identity is how processes tell that they mean the same scheme.
package identity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
)

// Check refuses schemes of which nobody can tell whether other processes find the same positions.
// The error wraps bloom.ErrInvalid.
func Check(s bloom.Scheme) error {
	err := s.Portable()
	if why, ok := strings.CutPrefix(fmt.Sprint(err), bloom.ErrNotPortable.Error()); ok && errors.Is(err, bloom.ErrNotPortable) {
		return fmt.Errorf("%w%s", bloom.ErrInvalid, why)
	}
	return err
}

// Text returns what a header says of strategy and hash, cut off after room bytes.
func Text(s bloom.Scheme, room int) string {
	_, text, _ := strings.Cut(s.Identity(), " strategy=")
	return text[:min(len(text), room)]
}

// Strategy returns that of some strategies which a header's text names; ok is false if it names
// none of them.
func Strategy(text string, among ...bloom.Strategy) (s bloom.Strategy, ok bool) {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, `"`), `"`)
	for _, s := range among {
		if s.Name() == name {
			return s, true
		}
	}
	return s, false
}
