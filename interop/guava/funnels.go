package guava

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Each function appends the bytes that the Guava funnel of the same name passes to the hash. Nothing separates values,
// so for a Java funnel with several fields, call a function for each:
//
//	key := append(buf[:0], user.Name...) // into.putString(user.name, UTF_8)
//	key = guava.LongFunnel(key, user.ID) //     .putLong(user.id)
//	f.Add(key)
//
// For Funnels.sequentialFunnel(element), call a function for each element. putShort and putChar are AppendUint16 of
// [binary.LittleEndian], putFloat is AppendUint32 of math.Float32bits, putDouble is AppendUint64 of math.Float64bits,
// putByte is one byte, and putBoolean is the byte 0 or 1. putBytes and putString(s, UTF_8) are the bytes themselves. In
// putString, Java encodes half of a surrogate pair as '?'.

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
