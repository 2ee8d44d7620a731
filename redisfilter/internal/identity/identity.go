// Package identity is how processes tell that they mean the same scheme.
package identity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
)

// DefaultStrategy returns the strategy for a rate where the user names none, and last for rates
// below 1e-6.
//
// What a lookup costs the server and the network grows with the words that a key's bits
// are in, an add with their number and the words. Blocked2 has two words and needs 7 % more
// memory than DoubleHashing at 1e-2, 36 % at 1e-4, 94 % at 1e-6; Blocked4 four words, and
// 18 % at 1e-4, 43 % at 1e-6, 62 % at 1e-7. Half more memory is the most that is taken
// unasked.
func DefaultStrategy(p float64, last bloom.Strategy) bloom.Strategy {
	switch {
	case p >= 1e-4:
		return bloom.Blocked2
	case p >= 1e-6:
		return bloom.Blocked4
	}
	return last
}

// Check refuses schemes that are not certain to have the same positions in every process. The error
// wraps bloom.ErrInvalid.
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

// Named returns the options of somebody who joins a filter, after those that its header's text
// names: the strategy if it is among some, and the hash if that is not the default one and no
// secret key is given, which has its own.
func Named(text string, opts []bloom.Option, among ...bloom.Strategy) []bloom.Option {
	strategy, rest, _ := strings.Cut(strings.TrimPrefix(text, `"`), `" hash=`)
	var named []bloom.Option
	for _, s := range among {
		if s.Name() == strategy {
			named = append(named, bloom.WithStrategy(s))
		}
	}
	if hash, _, _ := strings.Cut(rest, ":"); hash == bloom.RapidHash.Name() && !keyed(opts) {
		named = append(named, bloom.WithHash(bloom.RapidHash))
	}
	return append(named, opts...)
}

// keyed reports whether a secret key is among the options.
func keyed(opts []bloom.Option) bool {
	s, err := bloom.NewScheme(1, 0.1, opts...)
	return err == nil && s.Keyed()
}
