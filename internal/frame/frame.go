// Package frame writes and reads files of several filters: numbers and filters, bound together by
// checksums.
//
// A filter's own checksum shows that it is whole, but not that it is the right filter in the right
// place. So the frame's checksum covers the magic, the numbers and the checksum of each filter, in
// their order. It skips the filters' other bytes: the CRC of bytes that end with their own CRC is the
// same for all bytes.
package frame

import (
	"encoding/binary"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// checksumBytes is the size of a frame's checksum, and of a filter's.
const checksumBytes = 8

// A checksum is computed as in a filter's file, but neither half covers the other.
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

// Limited returns the options with a limit of bytes for one filter.
func Limited(opts []bloom.Option, bytes uint64) []bloom.Option {
	return append(opts[:len(opts):len(opts)], bloom.WithMaxBytes(bytes))
}
