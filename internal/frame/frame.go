// Package frame writes and reads files of numbers and several filters, with checksums of the whole.
//
// A filter's own checksum shows that the filter is intact, but not that it is the right filter in the right place. So
// the frame's checksum covers the magic, the numbers and the checksum of each filter, in their order. It skips the
// other bytes of the filters: the CRC of bytes that end with their own CRC is a constant.
package frame

import (
	"encoding/binary"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// checksumBytes is the size of a frame's checksum, and of a filter's.
const checksumBytes = 8

// A checksum is a [format.Checksum] neither half of which covers the other.
type checksum struct{ format.Checksum }

func (c checksum) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.IEEE)
	return binary.LittleEndian.AppendUint32(dst, c.Castagnoli)
}

// A tail holds the last bytes of a filter: its checksum.
type tail struct {
	bytes [checksumBytes]byte
}

func (t *tail) add(p []byte) {
	if len(p) < checksumBytes {
		copy(t.bytes[:], t.bytes[len(p):])
	}
	copy(t.bytes[checksumBytes-min(len(p), checksumBytes):], p[max(0, len(p)-checksumBytes):])
}

// Limited returns opts followed by bloom.WithMaxBytes(bytes).
func Limited(opts []bloom.Option, bytes uint64) []bloom.Option {
	return append(opts[:len(opts):len(opts)], bloom.WithMaxBytes(bytes))
}
