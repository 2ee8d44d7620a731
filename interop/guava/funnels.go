package guava

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UnencodedCharsFunnel is Funnels.unencodedCharsFunnel() and putUnencodedChars(s): the UTF-16 code units of s,
// little-endian. Each byte that is not valid UTF-8 becomes U+FFFD.
func UnencodedCharsFunnel(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, c, 0)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(high))
			r = low
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
		i += size
	}
	return dst
}

// IntegerFunnel is Funnels.integerFunnel() and putInt(v): four bytes, little-endian.
func IntegerFunnel(dst []byte, v int32) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(v))
}

// LongFunnel is Funnels.longFunnel() and putLong(v): eight bytes, little-endian.
func LongFunnel(dst []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}
