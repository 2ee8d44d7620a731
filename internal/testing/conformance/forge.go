package conformance

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// Forge returns a file that may be invalid but has right checksums: the magic, then numbers for each []uint64 and a
// filter for each *bloom.BloomFilter.
func Forge(t testing.TB, magic string, parts ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	out := format.NewFrameWriter(&b, magic)
	for _, part := range parts {
		switch part := part.(type) {
		case []uint64:
			out.Numbers(part...)
		case *bloom.BloomFilter:
			out.Filter(part)
		default:
			t.Fatalf("%T cannot be written", part)
		}
	}
	if _, err := out.Result(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Refused fails unless err wraps want, contains text, and names package bloom once.
func Refused(t testing.TB, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) || strings.Count(err.Error(), "bloom: ") != 1 {
		t.Errorf("got %v, want %v with %q", err, want, text)
	}
}

// Options tests that the options of read must agree with the file, and that a filter with MapHash is not written. made
// returns a filter and its size in bytes.
func Options(t *testing.T, made func(opts ...bloom.Option) (f io.WriterTo, size uint64),
	read func(r io.Reader, opts ...bloom.Option) (io.WriterTo, error)) {
	t.Helper()
	var b bytes.Buffer
	mapped, _ := made(bloom.WithHash(bloom.MapHash))
	if n, err := mapped.WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	key := bloom.WithSecret([16]byte{1})
	f, size := made(key)
	keyed := Written(t, f)
	for _, c := range []struct {
		name string
		opts []bloom.Option
		want error
	}{
		{"the same", []bloom.Option{key, bloom.WithMaxBytes(size)}, nil},
		{"no key", nil, bloom.ErrIncompatible},
		{"another key", []bloom.Option{bloom.WithSecret([16]byte{2})}, bloom.ErrIncompatible},
		{"a seed", []bloom.Option{bloom.WithSeed(3)}, bloom.ErrIncompatible},
		{"another strategy", []bloom.Option{key, bloom.WithStrategy(bloom.SplitBlock)}, bloom.ErrIncompatible},
		{"a byte too few", []bloom.Option{key, bloom.WithMaxBytes(size - 1)}, bloom.ErrTooLarge},
		{"a nil option", []bloom.Option{key, nil}, bloom.ErrInvalid},
	} {
		if _, err := read(bytes.NewReader(keyed), c.opts...); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
