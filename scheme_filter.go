package bloom

import (
	"fmt"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/splitvec"
)

// Filter returns an empty filter with this scheme. The error wraps [ErrTooLarge]
// if the machine has too little memory.
func (s Scheme) Filter() (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, errNoScheme
	}
	b, err := newBitArray(s.scheme.params.M)
	if err != nil {
		return nil, err
	}
	return s.scheme.filter(b), nil
}

// FilterOver returns a filter with this scheme whose bits are the given words: bit
// i is bit i%64 of words[i/64]. Nothing is copied. The words must stay valid for
// as long as the filter is used; each of its operations reads and writes them
// atomically. For speed with Blocked, the first one should begin a cache line.
//
// The error wraps [ErrInvalid] if there are not exactly SizeBytes/8 words or a bit
// at or beyond m is set.
func (s Scheme) FilterOver(words []atomic.Uint64) (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, errNoScheme
	}
	m := s.scheme.params.M
	if want := wordsFor(m); uint64(len(words)) != want {
		return nil, fmt.Errorf("%w: %d words, want %d for m = %d bits", ErrInvalid, len(words), want, m)
	}
	if err := bitArray(words).checkTail(m, ErrInvalid); err != nil {
		return nil, err
	}
	return s.scheme.filter(words), nil
}

var errNoScheme = fmt.Errorf("%w: the zero Scheme, want one of NewScheme", ErrInvalid)

// filter returns the filter with these bits.
func (s *scheme) filter(bits bitArray) *BloomFilter {
	units, kernel := s.params.M, s.strategy.id()
	switch {
	case kernel.groups() > 0:
		units /= blockBits
	case kernel == idSplitBlock:
		units /= splitBits
		if splitvec.For(bits) {
			kernel = kernelSplitVectors
		}
	case kernel == idDoubleHashing:
		kernel = kernelOfDouble(s.params.M, s.params.K)
	}
	return &BloomFilter{
		bits:  bits,
		units: units, seed: s.hash.start(), k: uint8(s.params.K), kernel: kernel, hash: s.hash.def.id,
		scheme: s,
	}
}

// Scheme returns the filter without its bits.
func (f *BloomFilter) Scheme() Scheme { return Scheme{f.scheme} }

// Words returns the filter's bits themselves, not a copy: bit i is bit i%64 of word
// i/64. It is for writing them to a format of your own. Words may be read at any
// time; a program that changes them must keep the filter's promises itself.
func (f *BloomFilter) Words() []atomic.Uint64 { return f.bits }
