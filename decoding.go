package bloom

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
)

// Read reads a filter that [BloomFilter.WriteTo] has written, in O(m). It reads nothing beyond the
// filter's end, so that a stream may hold several filters. At the end of the stream it returns
// io.EOF itself.
//
// A filter with a secret needs [WithSecret]. One with a custom strategy or hash needs [WithStrategy] or [WithHash],
// with a strategy or hash of the same name. Other filters need no options. A given strategy, hash or seed must equal
// the filter's. [WithMaxBytes] limits the filter's memory.
//
// The bytes may come from an untrusted source. Read checks every field. It allocates memory as the bytes arrive, at
// most three times their number. It always detects a missing end and up to three changed bits, and other damage with
// probability 1 - 2^-64. A forgery with the right checksum is not detected: the result is a valid filter, but it may
// contain every key. [BloomFilter.Stats] shows that.
//
// The error wraps [ErrCorrupt] if the bytes are damaged or not a filter, and also io.ErrUnexpectedEOF if they end too
// early. It wraps [ErrIncompatible] if the filter contradicts the options, needs an option that is missing, has another
// version of the format, or is of another kind. For another kind, the error names the function that reads it. It wraps
// [ErrTooLarge] if the filter exceeds the machine's memory or WithMaxBytes. If r fails, it wraps the error of r.
func Read(r io.Reader, opts ...Option) (*BloomFilter, error) {
	o, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	f, _, err := read(r, o)
	return f, err
}

// readFrom replaces the filter with the next filter in r. To read it, readFrom uses the secret, the custom strategy and
// the custom hash of the receiver, if any. After an error, the receiver is unchanged.
func (f *BloomFilter) readFrom(r io.Reader) (int64, error) {
	o := options{maxBytes: math.MaxUint64}
	if made := f.scheme; made != nil {
		if builtinStrategy(made.strategy.Name()).strategy == nil {
			o.strategy = made.strategy
		}
		switch {
		case made.hash == &sipHash:
			o.keyed = made.sumKey
		case made.hash.custom:
			o.hash = made.hash
		}
	}
	g, n, err := read(r, o)
	if err != nil {
		return n, err
	}
	*f = *g
	return n, nil
}

// UnmarshalBinary replaces the filter with one from bytes that are exactly one filter, as [Read] reads it. It does not
// keep data. The receiver may be the zero BloomFilter. If it has a secret or a custom strategy or hash, UnmarshalBinary
// uses them like the options of Read. It implements encoding.BinaryUnmarshaler, so that encoding/gob works.
//
// After an error, the receiver is unchanged. Unlike other methods, UnmarshalBinary must not be called while other
// goroutines use the filter.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	r := bytes.NewReader(data)
	var g BloomFilter
	g.scheme = f.scheme
	switch _, err := g.readFrom(r); {
	case err == io.EOF:
		return format.Truncated("a filter")
	case err != nil:
		return err
	case r.Len() > 0:
		return fail(ErrCorrupt, "%d bytes after the end of the filter", r.Len())
	}
	*f = g
	return nil
}

// UnmarshalText is [BloomFilter.UnmarshalBinary] for text in base64. Newlines are ignored. It
// implements encoding.TextUnmarshaler, so that encoding/json works.
func (f *BloomFilter) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return fail(ErrCorrupt, "%w", err)
	}
	return f.UnmarshalBinary(data)
}

// ReadScheme reads what [Scheme.AppendBinary] has written, or the header of a filter, and nothing
// beyond. It takes the options of [Read] and returns the same errors. It allocates no memory for
// bits: only [WithMaxBytes] limits their size.
func ReadScheme(r io.Reader, opts ...Option) (*Scheme, error) {
	o, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	h, err := format.NewReader(r).Header()
	if err != nil {
		return nil, err
	}
	return o.schemeOf(h)
}

// ReadNames reads the header of a filter or a scheme, as [ReadScheme] does, and returns the names of the strategy and
// the hash. They need not be known. They tell a program which options Read needs: for example, a hash named "siphash"
// needs WithSecret. ReadNames returns the errors of ReadScheme for a damaged header.
func ReadNames(r io.Reader) (strategy, hash string, err error) {
	h, err := format.NewReader(r).Header()
	return h.Strategy, h.Hash, err
}

// read reads a filter and checks it against the options. n is the number of bytes that were
// read, also after an error.
func read(r io.Reader, o options) (f *BloomFilter, n int64, err error) {
	in := format.NewReader(r)
	defer func() { n = in.N }()
	h, err := in.Header()
	if err != nil {
		return nil, 0, err
	}
	s, err := o.schemeOf(h)
	if err != nil {
		return nil, 0, err
	}
	if err := checkMemory(h.M); err != nil {
		return nil, 0, err
	}
	words, err := in.Words(h.M, func(words uint64) ([]atomic.Uint64, error) { return tryWords(h.M, words) })
	if err != nil {
		return nil, 0, err
	}
	if err := in.End(); err != nil {
		return nil, 0, err
	}
	b := bitArray(words)
	if err := b.checkTail(h.M, ErrCorrupt); err != nil {
		return nil, 0, err
	}
	return s.over(b), 0, nil
}

// schemeOf returns the scheme of a header, if it agrees with the options.
func (o options) schemeOf(h format.Header) (_ *Scheme, err error) {
	if o.strategy, err = o.strategyNamed(h.Strategy); err != nil {
		return nil, err
	}
	if o.hash, err = o.hashNamed(h.Hash, h.Check); err != nil {
		return nil, err
	}
	if o.hash.start != nil {
		o.seed = &h.Check
	}
	switch ofKeys := o.hash == &noHash; {
	case o.strategy.NeedsKey() == ofKeys:
	case o.strategy.isCustom():
		return nil, fail(ErrIncompatible, "the data's strategy is %q, and one of the two takes keys, the other digests", h.Strategy)
	default:
		return nil, fail(ErrCorrupt, "strategy %q with hash %q", h.Strategy, h.Hash)
	}
	s, err := newScheme(Params{N: h.N, P: h.P, M: h.M, K: h.K}, &o)
	if errors.Is(err, ErrInvalid) {
		err = failure.As(ErrCorrupt, err)
	}
	return s, err
}

// strategyNamed returns the strategy with that name, from the options or built-in.
func (o *options) strategyNamed(name string) (Strategy, error) {
	want, found := o.strategy, builtinStrategy(name)
	switch {
	case name == "":
		return found, fail(ErrCorrupt, "its strategy has an empty name")
	case want.Name() == name:
		return want, nil
	case want.strategy != nil:
		return found, fail(ErrIncompatible, "the data's strategy is %q, want %q", name, o.strategy)
	case found.strategy == nil:
		return found, fail(ErrIncompatible, "the data's strategy is %q, want one of that name by WithStrategy", name)
	}
	return found, nil
}

// hashNamed returns the hash with that name, from the options or built-in. check is the file's check value, see
// checkValue.
func (o *options) hashNamed(name string, check uint64) (*Hash, error) {
	hash := builtinHash(name)
	if o.hash != nil && o.hash.name == name {
		hash = o.hash
	}
	switch {
	case name == "":
		return nil, fail(ErrCorrupt, "its hash has an empty name")
	case hash == &mapHash:
		return nil, fail(ErrCorrupt, "its hash is %v, which is never written", MapHash)
	case o.hash != nil && o.hash != hash:
		return nil, fail(ErrIncompatible, "the data's hash is %q, want %q", name, o.hash.name)
	case hash == nil:
		return nil, fail(ErrIncompatible, "the data's hash is %q, want one of that name by WithHash", name)
	case hash == &sipHash:
		return hash, o.checkSecret(check)
	case o.keyed != nil:
		return nil, fail(ErrIncompatible, "the data's hash is %q without a secret, want the given one", name)
	case hash.custom:
		return hash, o.checkCustom(hash, check)
	case o.seed != nil && *o.seed != check:
		return nil, fail(ErrIncompatible, "the data's seed is %d, want %d", check, *o.seed)
	}
	return hash, nil
}

// checkCustom returns an error if the data's number of bits is not that of a custom hash.
func (o *options) checkCustom(hash *Hash, bits uint64) error {
	switch {
	case bits != 64 && bits != 128:
		return fail(ErrCorrupt, "hash %q of %d bits, want 64 or 128", hash.name, bits)
	case bits != uint64(hash.bits):
		return fail(ErrIncompatible, "the data's hash is %q of %d bits, the given one has %d", hash.name, bits, hash.bits)
	case o.seed != nil:
		return fail(ErrIncompatible, "the data's hash is %q without a seed, want seed %d", hash.name, *o.seed)
	}
	return nil
}

// checkSecret returns an error if check is not the check value of the reader's secret.
func (o *options) checkSecret(check uint64) error {
	switch {
	case o.seed != nil:
		return fail(ErrIncompatible, "the data's hash is %q with a secret, want seed %d", sipHash.name, *o.seed)
	case o.keyed == nil:
		return fail(ErrIncompatible, "the data's hash is %q, want its secret by WithSecret", sipHash.name)
	case secretCheck(o.keyed) != check:
		return fail(ErrIncompatible, "the data was made with another secret than the given one")
	}
	return nil
}
