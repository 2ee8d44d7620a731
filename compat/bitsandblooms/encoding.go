package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// headBytes is the size of m, k and the length of the bit set, before the words.
const headBytes = 3 * 8

// WriteTo writes the filter and returns the number of bytes. It may run while keys are added. It returns any error from
// stream, or one that wraps bloom.ErrInvalid for the zero BloomFilter.
func (f *BloomFilter) WriteTo(stream io.Writer) (int64, error) {
	w := &counter{Writer: stream}
	err := bitsandblooms.Write(w, f.Filter())
	return w.n, err
}

// A counter counts the bytes that it writes.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadFrom replaces the filter with one that WriteTo has written, and returns the number of bytes. It reads
// nothing beyond the filter. After an error the filter is unchanged. The error wraps bloom.ErrCorrupt,
// bloom.ErrTooLarge or the error of stream.
func (f *BloomFilter) ReadFrom(stream io.Reader) (int64, error) {
	read, err := bitsandblooms.Read(stream)
	if err != nil {
		return 0, err
	}
	if m := read.Params().M; m > math.MaxUint { // uint has 32 bits
		return 0, fmt.Errorf("%w: m = %d bits, want at most %d", bloom.ErrTooLarge, m, uint64(math.MaxUint))
	}
	*f = BloomFilter(*read)
	return headBytes + int64(read.SizeBytes()), nil
}

// The methods that marshal have value receivers, so that encoders also find them for a field of type BloomFilter, not
// only for a pointer.

// MarshalBinary returns what WriteTo writes.
func (f BloomFilter) MarshalBinary() ([]byte, error) {
	var buf bytes.Buffer
	if !f.isZero() {
		buf.Grow(headBytes + int(f.Filter().SizeBytes()))
	}
	err := bitsandblooms.Write(&buf, f.Filter())
	return buf.Bytes(), err
}

// UnmarshalBinary is ReadFrom for a byte slice.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	_, err := f.ReadFrom(bytes.NewReader(data))
	if err == io.EOF {
		return fmt.Errorf("%w: it ends within a filter: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
	}
	return err
}

// GobEncode is MarshalBinary.
func (f BloomFilter) GobEncode() ([]byte, error) { return f.MarshalBinary() }

// GobDecode is UnmarshalBinary.
func (f *BloomFilter) GobDecode(data []byte) error { return f.UnmarshalBinary(data) }

// MarshalJSON returns m, k and the bits in base64, or 0, 0 and null for the zero BloomFilter.
func (f BloomFilter) MarshalJSON() ([]byte, error) {
	if f.isZero() {
		return []byte(`{"m":0,"k":0,"b":null}`), nil
	}
	data, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	set, b64 := data[2*8:], base64.URLEncoding
	text := make([]byte, 0, b64.EncodedLen(len(set))+64)
	text = strconv.AppendUint(append(text, `{"m":`...), uint64(f.Cap()), 10)
	text = strconv.AppendUint(append(text, `,"k":`...), uint64(f.K()), 10)
	text = b64.AppendEncode(append(text, `,"b":"`...), set)
	return append(text, `"}`...), nil
}

// UnmarshalJSON reads what MarshalJSON returned. By convention, null does not change the filter.
func (f *BloomFilter) UnmarshalJSON(text []byte) error {
	var parts *struct {
		M uint64  `json:"m"`
		K uint64  `json:"k"`
		B *string `json:"b"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return fmt.Errorf("%w: %w", bloom.ErrCorrupt, err)
	}
	switch {
	case parts == nil:
		return nil
	case parts.B != nil:
	case parts.M == 0 && parts.K == 0:
		*f = BloomFilter{}
		return nil
	default:
		return fmt.Errorf("%w: no field b for m = %d and k = %d", bloom.ErrCorrupt, parts.M, parts.K)
	}
	data := make([]byte, 2*8, headBytes+len(*parts.B)/4*3)
	binary.BigEndian.PutUint64(data, parts.M)
	binary.BigEndian.PutUint64(data[8:], parts.K)
	b64 := base64.URLEncoding
	if strings.ContainsAny(*parts.B, "+/") {
		b64 = base64.StdEncoding
	}
	data, err := b64.Strict().AppendDecode(data, []byte(*parts.B))
	if err != nil {
		return fmt.Errorf("%w: field b is not base64: %w", bloom.ErrCorrupt, err)
	}
	var g BloomFilter
	if err := g.UnmarshalBinary(data); err != nil {
		return err
	}
	if more := len(data) - headBytes - int(g.Filter().SizeBytes()); more > 0 {
		return fmt.Errorf("%w: %d bytes after the end of the filter", bloom.ErrCorrupt, more)
	}
	*f = g
	return nil
}
