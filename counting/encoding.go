package counting

import (
	"fmt"
	"io"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
)

// docs/spec.md defines the format and what a decoder must check. The last byte of magic is the version.
const magic = format.Counting + "\x01"

// WriteTo writes the filter to w, in O(m): the counters, and some hundred bytes. The bytes are the same on every
// architecture. To save a filter in a file, call persist.Save.
//
// WriteTo takes as much memory as the filter. It may run while keys are added and removed. It writes every key that is
// present during the whole call. A key that is added or removed during the call may be written in part: do not remove
// it from a filter that is read from these bytes.
//
// WriteTo returns any error from w. The error wraps [bloom.ErrNotPortable] if no other process could read the bytes,
// see [bloom.Scheme.Portable].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	var planes [counterBits]*bloom.BloomFilter
	for j := range planes { // bit i of plane j is bit j of counter i
		plane, err := f.scheme.Filter()
		if err != nil {
			return 0, err
		}
		planes[j] = plane
	}
	// All four bits of a counter come from one load.
	for i := range f.counters {
		word := f.counters[i].Load()
		for j := range planes {
			if set := gather(word >> j & lowest); set != 0 {
				planes[j].Words()[i/4].Or(set << (i % 4 * perWord))
			}
		}
	}
	out := format.NewFrameWriter(w, magic)
	for _, plane := range planes {
		out.Filter(plane)
	}
	out.Numbers()
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself. Read takes the same options as [bloom.Read] and
// returns the same errors. [bloom.WithMaxBytes] limits the memory of all counters, as in [New].
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	in, err := format.NewFrameReader(r, magic)
	if err != nil {
		return nil, err
	}
	limit := bloom.MaxBytes(opts...)
	perPlane := append(slices.Clip(opts), bloom.WithMaxBytes(maxPlane(limit)))
	var planes [counterBits]*bloom.BloomFilter
	for j := range planes {
		what := fmt.Sprintf("bit %d of the counters", j)
		plane, err := format.ReadFilter(in, what, bloom.Read, perPlane)
		if err != nil {
			return nil, err
		}
		if j > 0 && (plane.Scheme().String() != planes[0].Scheme().String() || plane.Params() != planes[0].Params()) {
			return nil, failure.Errorf(bloom.ErrCorrupt, "%s is %v, bit 0 is %v", what, plane, planes[0])
		}
		planes[j] = plane
	}
	if err := in.Numbers("the end"); err != nil {
		return nil, err
	}
	f, err := newFilter(planes[0].Scheme(), limit)
	if err != nil {
		return nil, err
	}
	for i := range f.counters {
		var word uint64
		for j, plane := range planes {
			word |= scatter(plane.Words()[i/4].Load()>>(i%4*perWord)) << j
		}
		f.counters[i].Store(word)
	}
	return f, nil
}

// maxPlane returns the memory limit for one plane, a filter with one bit of each counter, if all counters may take
// limit bytes: a quarter of limit, and up to a word more.
func maxPlane(limit uint64) uint64 { return (limit/(8*counterBits) + 1) * 8 }

// scatter moves bits 0, 1, 2, … 15 of a word to bits 0, 4, 8, …
func scatter(word uint64) uint64 {
	word &= 0xffff
	word = (word | word<<24) & 0x000000ff000000ff
	word = (word | word<<12) & 0x000f000f000f000f
	word = (word | word<<6) & 0x0303030303030303
	return (word | word<<3) & lowest
}
