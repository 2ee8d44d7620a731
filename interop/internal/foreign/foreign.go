// Package foreign makes, reads and writes filters for the formats of other systems.
package foreign

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
)

// chunkBytes is the number of bytes that Write writes at a time.
const chunkBytes = 64 << 10

// MaxK is the largest k of package bloom.
const MaxK = 255

// Params returns parameters with the given m and k, or an error if p is not between 0 and 1, m is above maxM, or k is
// above 255.
func Params(n uint64, p, m, k float64, maxM uint64) (bloom.Params, error) {
	switch {
	case !(p > 0 && p < 1):
		return bloom.Params{}, failure.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1", p)
	case m > float64(maxM):
		return bloom.Params{}, failure.Errorf(bloom.ErrTooLarge, "n = %d keys at p = %v need m = %.0f bits, want at most %d", n, p, m, maxM)
	case k > MaxK:
		return bloom.Params{}, failure.Errorf(bloom.ErrInvalid, "p = %v needs k = %.0f, want at most %d", p, k, MaxK)
	}
	return bloom.Params{N: n, P: p, M: uint64(m), K: int(k)}, nil
}

// Scheme returns the scheme with the given parameters and the options that a format requires. It refuses opts that
// change the strategy, the hash or the seed.
func Scheme(p bloom.Params, required, opts []bloom.Option) (*bloom.Scheme, error) {
	s, err := bloom.NewSchemeWithParams(p, slices.Concat(required, opts)...)
	if err != nil {
		return s, err
	}
	return s, check(s, required, bloom.ErrInvalid, "the options ask for")
}

// check returns an error of the given kind if s has another strategy, hash or seed than required.
func check(s *bloom.Scheme, required []bloom.Option, kind error, text string) error {
	want, err := bloom.NewSchemeWithParams(s.Params(), required...)
	if err != nil { // the required strategy cannot have this m and k, but every one has these
		want, err = bloom.NewSchemeWithParams(bloom.Params{M: 256, K: 8}, required...)
	}
	switch {
	case err != nil:
		panic(err)
	case s.Strategy() == want.Strategy() && s.String() == want.String():
		return nil
	case describe(s) == describe(want):
		return failure.Errorf(kind, "%s another strategy %q or hash %q than the format's", text, s.Strategy(), s.Hash())
	}
	return failure.Errorf(kind, "%s %s, want %s", text, describe(s), describe(want))
}

func describe(s *bloom.Scheme) string {
	return fmt.Sprintf("strategy %q, hash %q and seed %d", s.Strategy(), s.Hash(), s.Seed())
}

// New returns an empty filter of the scheme that [Scheme] returns for the same arguments.
func New(p bloom.Params, required, opts []bloom.Option) (*bloom.BloomFilter, error) {
	s, err := Scheme(p, required, opts)
	if err != nil {
		return nil, err
	}
	return s.Filter()
}

// Portable returns an error that wraps bloom.ErrNotPortable if a filter does not have the options that a format
// requires, and one that wraps bloom.ErrInvalid if it is nil or the zero BloomFilter.
func Portable(f *bloom.BloomFilter, required ...bloom.Option) error {
	if err := Usable(f); err != nil {
		return err
	}
	return check(f.Scheme(), required, bloom.ErrNotPortable, "it has")
}

// Usable returns an error that wraps bloom.ErrInvalid if a filter is nil or the zero BloomFilter.
func Usable(f *bloom.BloomFilter) error {
	switch {
	case f == nil:
		return failure.Errorf(bloom.ErrInvalid, "the filter is nil")
	case f.Scheme() == nil:
		return failure.Errorf(bloom.ErrInvalid, "the zero BloomFilter, want one that was made or read")
	}
	return nil
}

// Read reads the words of a filter with the given scheme, and nothing beyond them. It allocates memory as the words
// arrive.
func Read(r io.Reader, order binary.ByteOrder, s *bloom.Scheme) (*bloom.BloomFilter, error) {
	m := s.Params().M
	tooLarge := func(err error) error {
		if err != nil {
			err = failure.Errorf(bloom.ErrTooLarge, "m = %d bits are %w", m, err)
		}
		return err
	}
	if err := memory.CheckWords(s.SizeBytes() / 8); err != nil {
		return nil, tooLarge(err)
	}
	makeWords := func(n uint64) ([]atomic.Uint64, error) {
		w, err := memory.TryWords(n)
		return w, tooLarge(err)
	}
	all, err := format.ReadWords(order, m, format.Remaining(r), makeWords, func(p []byte) error {
		_, err := format.Full(r, p, "the bits", false)
		return err
	})
	if err != nil {
		return nil, err
	}
	return Over(s, binary.NativeEndian, all)
}

// Over returns a filter with words as its bits, without a copy. order is the byte order of words. Over converts them to
// native order in place, so no other goroutine may use them.
func Over(s *bloom.Scheme, order binary.ByteOrder, words []atomic.Uint64) (*bloom.BloomFilter, error) {
	format.ToNative(words, order)
	f, err := s.FilterOver(words)
	if err != nil {
		return nil, failure.As(bloom.ErrCorrupt, err)
	}
	return f, nil
}

// Write writes head and then words in the given byte order. It may run while keys are added.
func Write(w io.Writer, order binary.ByteOrder, head []byte, words []atomic.Uint64) error {
	buf := slices.Grow(slices.Clip(head), min(len(words)*8, chunkBytes))
	for {
		next := words[:min(len(words), chunkBytes/8)]
		if order == binary.LittleEndian {
			buf = format.AppendWords(buf, next)
		} else {
			for i := range next {
				buf = binary.BigEndian.AppendUint64(buf, next[i].Load())
			}
		}
		if n, err := w.Write(buf); err != nil {
			return err
		} else if n < len(buf) {
			return io.ErrShortWrite
		}
		if words = words[len(next):]; len(words) == 0 {
			return nil
		}
		buf = buf[:0]
	}
}
