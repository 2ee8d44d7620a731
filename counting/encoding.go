package counting

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame"
)

// The format, version 1, frozen: the magic, and then four filters in the format of
// package bloom, of m bits each and with equal parameters. Bit i of the first is the
// lowest bit of counter i, that of the fourth its highest.
const magic = "\x89bloomc\x01"

// WriteTo writes the filter to w, in O(m): [Filter.SizeBytes] and some hundred bytes
// more. The bytes are the same on every architecture and readable for ever, by [Read]. A
// snapshot that survives a crash is persist.Save(path, f).
//
// It needs as much memory as the filter has. It may run while keys are added and
// removed; what it writes contains every key that was there from before the call until
// after it. But a key that was being added or removed meanwhile may be there by half, and
// must then not be removed from the filter that is read.
//
// The error is that of w, or wraps [bloom.ErrNotPortable] as that of
// [bloom.BloomFilter.WriteTo].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	var planes [counterBits]*bloom.BloomFilter
	for j := range planes {
		plane, err := f.scheme.Filter()
		if err != nil {
			return 0, fmt.Errorf("counting: %w", err)
		}
		planes[j] = plane
	}
	// All four bits of a counter must be of the same moment.
	for i := range f.counters {
		word := f.counters[i].Load()
		for j := range planes {
			if set := gather(word >> j & lowest); set != 0 {
				planes[j].Words()[i/4].Or(set << (i % 4 * perWord))
			}
		}
	}
	out := frame.NewWriter(w)
	out.Magic(magic)
	for _, plane := range planes {
		out.Filter(plane)
	}
	n, err := out.Result()
	return n, frame.Wrap("counting", err)
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its
// end. At the end of the stream it returns io.EOF itself. Options and errors are those of
// [bloom.Read]; [bloom.WithMaxBytes] speaks of m bits, and the counters take 4 times as
// much.
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	f, err := read(frame.NewReader(r), opts)
	return f, frame.Wrap("counting", err)
}

func read(in *frame.Reader, opts []bloom.Option) (*Filter, error) {
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var planes [counterBits]*bloom.BloomFilter
	for j := range planes {
		what := fmt.Sprintf("bit %d of the counters", j)
		plane, err := in.Filter(what, opts)
		if err != nil {
			return nil, err
		}
		if j > 0 && (!plane.Compatible(planes[0]) || plane.Params() != planes[0].Params()) {
			return nil, fmt.Errorf("%w: %s is %v, bit 0 is %v", bloom.ErrCorrupt, what, plane, planes[0])
		}
		planes[j] = plane
	}
	f, err := newFilter(planes[0].Scheme())
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

// scatter moves bits 0, 1, 2, … 15 of a word to bits 0, 4, 8, …
func scatter(word uint64) uint64 {
	word &= 0xffff
	word = (word | word<<24) & 0x000000ff000000ff
	word = (word | word<<12) & 0x000f000f000f000f
	word = (word | word<<6) & 0x0303030303030303
	return (word | word<<3) & lowest
}
