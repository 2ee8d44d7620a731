package bloom

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/internal/format"
)

// portableHeader returns what the scheme is in a file, or says why it would mean nothing
// there.
func (s *scheme) portableHeader() (format.Header, error) {
	if err := s.portable(); err != nil {
		return format.Header{}, err
	}
	return format.Header{
		M: s.params.M, N: s.params.N, K: s.params.K, P: s.params.P,
		Check: s.hash.checkValue(), Strategy: s.strategy.Name(), Hash: s.hash.def.name,
	}, nil
}

// portable says why a filter with this scheme would mean nothing elsewhere.
func (s *scheme) portable() error {
	switch {
	case s.strategy.def == nil:
		return fmt.Errorf("%w: a BloomFilter that was not made by New", ErrInvalid)
	case s.hash.def == &mapHash:
		return fmt.Errorf("%w: its hash is %v, want Murmur3, RapidHash or a key", ErrNotPortable, MapHash)
	case s.hash.def.name == "":
		return fmt.Errorf("%w: its hash has no name", ErrNotPortable)
	case s.strategy.Name() == "":
		return fmt.Errorf("%w: its strategy has no name", ErrNotPortable)
	}
	return nil
}

// schemeOf returns the scheme that a header says, if it is what the reader asked for.
func (o *options) schemeOf(h format.Header) (*scheme, error) {
	strategy, err := o.strategyNamed(h.Strategy)
	if err != nil {
		return nil, err
	}
	hash, err := o.hashNamed(h.Hash, h.Check)
	if err != nil {
		return nil, err
	}
	s := new(scheme)
	err = s.set(Params{N: h.N, P: h.P, M: h.M, K: h.K}, strategy, hash)
	if errors.Is(err, ErrInvalid) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err == nil {
		err = o.checkSize(h.M)
	}
	return s, err
}

// strategyNamed returns the strategy of that name: the wanted one, or one of this package.
func (o *options) strategyNamed(name string) (Strategy, error) {
	want := o.strategy
	if want.def != nil && want.Name() == name && want.id() != idBlocked {
		return want, nil
	}
	var found Strategy
	if i := slices.IndexFunc(builtins, func(d *definition) bool { return d.name == name }); i >= 0 {
		found = Strategy{builtins[i]}
	}
	switch {
	case name == "" || found.id() == idBlocked:
		return found, fmt.Errorf("%w: strategy %q, which no filter has", ErrCorrupt, name)
	case want.id() == idBlocked && found.blocked():
		return found, nil
	case want.def != nil:
		return found, fmt.Errorf("%w: the data's strategy is %q, want %q", ErrIncompatible, name, want)
	case found.def == nil:
		return found, fmt.Errorf("%w: the data's strategy is %q, want one of that name by WithStrategy", ErrIncompatible, name)
	}
	return found, nil
}

// hashNamed returns the hash of that name, the wanted one or one of this package, with the
// seed or key that check stands for.
func (o *options) hashNamed(name string, check uint64) (hasher, error) {
	def := builtinHash(name)
	if o.hash != nil && o.hash.name == name {
		def = o.hash
	}
	switch {
	case name == "":
		return hasher{}, fmt.Errorf("%w: hash %q, which no filter has", ErrCorrupt, name)
	case def == &mapHash:
		return hasher{}, fmt.Errorf("%w: its hash is %v, which is never written", ErrCorrupt, MapHash)
	case o.hash != nil && o.hash != def:
		return hasher{}, fmt.Errorf("%w: the data's hash is %q, want %q", ErrIncompatible, name, o.hash.name)
	case def == nil:
		return hasher{}, fmt.Errorf("%w: the data's hash is %q, want one of that name by WithHash", ErrIncompatible, name)
	case def == &sipHash:
		return o.keyChecked(check)
	case o.key != nil:
		return hasher{}, fmt.Errorf("%w: the data's hash is %q without a key, want the given key", ErrIncompatible, name)
	}
	h := seededHasher(def, check)
	switch {
	case o.seed != nil && *o.seed != check:
		return h, fmt.Errorf("%w: the data's seed is %d, want %d", ErrIncompatible, check, *o.seed)
	case def.own() && check != 0:
		return h, fmt.Errorf("%w: seed %d with hash %q, which no filter has", ErrCorrupt, check, name)
	}
	return h, nil
}

// keyChecked returns SipHash with the reader's key, if check stands for it.
func (o *options) keyChecked(check uint64) (hasher, error) {
	switch {
	case o.seed != nil:
		return hasher{}, fmt.Errorf("%w: the data's hash is %q with a secret key, want seed %d", ErrIncompatible, sipHash.name, *o.seed)
	case o.key == nil:
		return hasher{}, fmt.Errorf("%w: the data's hash is %q, want its secret key by WithKey", ErrIncompatible, sipHash.name)
	}
	h := keyedHasher(*o.key)
	if h.checkValue() != check {
		return h, fmt.Errorf("%w: the data was made with another secret key than the given one", ErrIncompatible)
	}
	return h, nil
}
