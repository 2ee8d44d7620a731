package cascade

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/layered"
)

// docs/spec.md defines the format and what a decoder must check. The last byte of magic is the version.
const magic = format.Cascade + "\x01"

// maxLevels is more than any cascade needs: a level has about 0.7 times the keys of the level before.
const maxLevels = 1 << 10

// WriteTo writes the cascade to w, in O(m): the bits, and some hundred bytes per level. The bytes are the same on every
// architecture. To save a cascade in a file, call persist.Save.
//
// WriteTo returns any error from w. The error wraps [bloom.ErrNotPortable] if no other process could read the bytes,
// see [bloom.Scheme.Portable].
func (c *Cascade) WriteTo(w io.Writer) (int64, error) {
	out := format.NewFrameWriter(w, magic)
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
// Options must agree with the cascade. A secret and a custom strategy or hash must be given;
// other options may be left out. [bloom.WithMaxBytes] limits the memory of all levels together.
// Read returns the same errors as [bloom.Read].
func Read(r io.Reader, opts ...bloom.Option) (*Cascade, error) {
	in, err := format.NewFrameReader(r, magic)
	if err != nil {
		return nil, err
	}
	var count uint64
	if err := in.Numbers("the header", &count); err != nil {
		return nil, err
	}
	if count > maxLevels {
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d levels, want at most %d", count, maxLevels)
	}
	c := &Cascade{}
	for i := range count {
		f, err := format.ReadFilter(in, fmt.Sprintf("level %d", i), bloom.Read, layered.Left(opts, c.SizeBytes()))
		if err != nil {
			return nil, err
		}
		switch s := f.Scheme(); {
		case s.Strategy().NeedsKey():
			return nil, failure.Errorf(bloom.ErrCorrupt, "level %d has strategy %q, which needs the key itself", i, s.Strategy())
		case i > 0 && !layered.SameHash(f, c.filters[0]):
			return nil, failure.Errorf(bloom.ErrCorrupt, "level %d is %v, the first %v", i, f, c.filters[0])
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
