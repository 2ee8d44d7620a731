package cascade

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame"
)

// The format, version 1. All numbers are little-endian.
//
//	bytes  field
//	8      magic: 89 62 6c 6f 6f 6d 65 01, the last of them the version
//	8      number of levels
//	8      checksum
//
// and for each level, the first first,
//
//	…      its filter, in the format of package bloom; n is the number of its keys
//
// and, if there is one, at the end
//
//	8      checksum
//
// docs/format.md defines the checksums and what a decoder must check.
const magic = "\x89bloome\x01"

// maxLevels is more than any lists need: a level has about 0.7 times the keys of the one before.
const maxLevels = 1 << 10

// WriteTo writes the cascade to w, in O(m): the bits and about 80 bytes per level. The bytes are the
// same on every architecture. persist.Save(path, c) writes a snapshot that survives a crash.
//
// The error is that of w, or wraps [bloom.ErrNotPortable] as that of [bloom.BloomFilter.WriteTo].
func (c *Cascade) WriteTo(w io.Writer) (int64, error) {
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(uint64(len(c.filters)))
	for _, f := range c.filters {
		out.Filter(f)
	}
	if len(c.filters) > 0 {
		out.Numbers()
	}
	return out.Result()
}

// Read reads a cascade that [Cascade.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself.
//
// Options must agree with the cascade. A secret key and a custom strategy or hash must be given;
// other options may be left out. [bloom.WithMaxBytes] limits the memory of all levels together.
// The errors are those of [bloom.Read].
func Read(r io.Reader, opts ...bloom.Option) (*Cascade, error) {
	in := frame.NewReader(r)
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var count uint64
	if err := in.Numbers("the header", &count); err != nil {
		return nil, err
	}
	if count > maxLevels {
		return nil, fmt.Errorf("%w: %d levels, want at most %d", bloom.ErrCorrupt, count, maxLevels)
	}
	c := &Cascade{}
	for i := range count {
		f, err := in.Filter(fmt.Sprintf("level %d", i), frame.Limited(opts, bloom.MaxBytes(opts...)-c.sizeBytes()))
		if err != nil {
			return nil, err
		}
		switch s := f.Scheme(); {
		case s.Strategy().NeedsKey():
			return nil, fmt.Errorf("%w: level %d has strategy %q, which needs the key itself", bloom.ErrCorrupt, i, s.Strategy())
		case i > 0 && !sameHash(s, c.filters[0].Scheme()):
			return nil, fmt.Errorf("%w: level %d is %v, the first %v", bloom.ErrCorrupt, i, f, c.filters[0])
		}
		c.filters = append(c.filters, f)
	}
	if count > 0 {
		if err := in.Numbers("the end"); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func sameHash(a, b bloom.Scheme) bool { return a.Hash() == b.Hash() && a.Seed() == b.Seed() }
