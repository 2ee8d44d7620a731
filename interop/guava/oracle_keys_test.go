package guava

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// A keyList are keys in the form in which the oracle takes them; see decode in
// Oracle.java.
type keyList [][]byte

func (l keyList) encode() (data []byte) {
	for _, k := range l {
		data = binary.BigEndian.AppendUint32(data, uint32(len(k)))
		data = append(data, k...)
	}
	return data
}

// texts are empty, without ASCII, with surrogate pairs, long, and with special characters.
var texts = []string{
	"", " ", "\x00", "\x7f", "é", "e\u0301", "Grüße aus Köln", "日本語", "\ufffd", "\ufeff", "\uffff", "\ue000",
	"😀", "a😀b", "👩‍👩‍👧‍👦", "\U0010ffff", "𝄞𝄞𝄞", "مرحبا", "\"\\\r\t",
	strings.Repeat("a", 15), strings.Repeat("b", 16), strings.Repeat("c", 17), strings.Repeat("d", 10_000),
	strings.Repeat("ü", 5000), strings.Repeat("😀", 3333), strings.Repeat("日本", 31),
}

var numbers = []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 0x0123456789abcdef}

// text is the i-th of a set of texts; sets have none in common. The special ones are in
// set 0.
func text(set, i int) string {
	if set == 0 && i < len(texts) {
		return texts[i]
	}
	kind := [...]string{"https://example.com/%d/%d", "ключ-%d-%d", "鍵 %d/%d", "😀%d😀%d"}[i%4]
	return fmt.Sprintf(kind, set, i)
}

// number is text for numbers. All differ as int32 too.
func number(set, i int) int64 {
	if set == 0 && i < len(numbers) {
		return numbers[i]
	}
	return int64(set+1)<<40 + int64(i+7)*0x9e3779b1
}

// keysFor returns the first count keys of a set.
func keysFor(funnel string, set, count int) keyList {
	list := make(keyList, count)
	for i := range list {
		list[i] = keyFor(funnel, set, i)
	}
	return list
}

func keyFor(funnel string, set, i int) []byte {
	switch s := text(set, i); funnel {
	case "int":
		return binary.BigEndian.AppendUint32(nil, uint32(number(set, i)+int64(set)<<30))
	case "long":
		return binary.BigEndian.AppendUint64(nil, uint64(number(set, i)))
	case "longs":
		var key []byte
		for j := range i % 4 {
			key = binary.BigEndian.AppendUint64(key, uint64(number(set, i+j)))
		}
		return key
	case "strings":
		return []byte(s + "\n\n" + text(set, i/2))
	case "fields":
		return append(binary.BigEndian.AppendUint64(nil, uint64(number(set, i))), s...)
	case "lone":
		units := utf16.Encode([]rune(s))
		if i%3 == 0 { // halves of surrogate pairs, alone or in the wrong order
			units = append(units, 0xd800+uint16(i%1024), 'x', 0xdc00, 0xd83d)
		}
		var key []byte
		for _, u := range units {
			key = binary.BigEndian.AppendUint16(key, u)
		}
		return key
	case "bytes":
		if set == 0 && i < 300 { // all lengths, all values
			key := make([]byte, i)
			for j := range key {
				key[j] = byte(i + j)
			}
			return key
		}
		return append([]byte{0xff, byte(i), 0x80, 0}, s...)
	default:
		return []byte(s)
	}
}

// funnels feed such keys to a filter, by the functions that users have.
var funnels = map[string]func(dst, key []byte) []byte{
	"utf8":  appendBytes,
	"utf16": func(dst, key []byte) []byte { return UnencodedCharsFunnel(dst, string(key)) },
	"lone": func(dst, key []byte) []byte { // what Java does
		var s strings.Builder
		units := unitsOf(key)
		for i := 0; i < len(units); i++ {
			switch u := rune(units[i]); {
			case !utf16.IsSurrogate(u):
				s.WriteRune(u)
			case i+1 < len(units) && utf16.DecodeRune(u, rune(units[i+1])) != 0xfffd:
				s.WriteRune(utf16.DecodeRune(u, rune(units[i+1])))
				i++
			default:
				s.WriteByte('?')
			}
		}
		return append(dst, s.String()...)
	},
	"int":     func(dst, key []byte) []byte { return IntegerFunnel(dst, int32(binary.BigEndian.Uint32(key))) },
	"long":    func(dst, key []byte) []byte { return LongFunnel(dst, int64(binary.BigEndian.Uint64(key))) },
	"bytes":   appendBytes,
	"strings": func(dst, key []byte) []byte { return append(dst, strings.ReplaceAll(string(key), "\n", "")...) },
	"longs": func(dst, key []byte) []byte {
		for ; len(key) > 0; key = key[8:] {
			dst = LongFunnel(dst, int64(binary.BigEndian.Uint64(key)))
		}
		return dst
	},
	"fields": func(dst, key []byte) []byte {
		n, s := int64(binary.BigEndian.Uint64(key)), string(key[8:])
		dst = append(dst, s...)
		dst = UnencodedCharsFunnel(dst, s)
		dst = LongFunnel(dst, n)
		dst = IntegerFunnel(dst, int32(n))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n)) // putShort
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n)) // putChar
		dst = append(dst, byte(n), byte(n&1))                  // putByte, putBoolean
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(n)))
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(n)))
	},
}

func unitsOf(key []byte) []uint16 {
	units := make([]uint16, len(key)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(key[2*i:])
	}
	return units
}
