// Package probe is the arithmetic that leads from a key's digest to its bits, for filters
// whose bits are atomic words and for those that are bytes: functions of numbers alone. The
// documentation of the strategies of package bloom says what they compute, and that never
// changes.
package probe

import "math/bits"

// The constants of DoubleHashing and Blocked. The multiplier is 5 modulo 8, as a full period
// of the congruential sequence needs.
const (
	Mul = 0xd1342543de82ef95
	Xor = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: any number without a pattern
)

// Reduce maps a uniform x to [0, m) by multiplication, as m·(x / 2^64).
// Lemire, "Fast random integer generation in an interval", 2019.
func Reduce(x, m uint64) uint64 {
	hi, _ := bits.Mul64(x, m)
	return hi
}

// Bit is the one that the low 6 bits of r select.
func Bit(r uint64) uint64 { return 1 << (r & 63) }
