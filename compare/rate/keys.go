package main

import (
	"encoding/binary"
	"strconv"
)

// A kind is a way to make keys of numbers: different numbers, different keys.
type kind struct {
	name   string
	append func(dst []byte, number uint64) []byte
}

// kinds are what keys look like in programs, from the easiest to hash to the
// hardest.
var kinds = []kind{
	{"random", func(dst []byte, number uint64) []byte {
		return binary.LittleEndian.AppendUint64(dst, mix(number))
	}},
	{"URLs", func(dst []byte, number uint64) []byte {
		return strconv.AppendUint(append(dst, "https://www.example.com/articles/"...), number, 10)
	}},
	{"sequential", func(dst []byte, number uint64) []byte {
		return binary.LittleEndian.AppendUint64(dst, number)
	}},
	// Sixteen bytes that count in Gray code: each key differs from the one before
	// in a single bit.
	{"one bit", func(dst []byte, number uint64) []byte {
		dst = append(dst, 0, 0, 0, 0)
		dst = binary.LittleEndian.AppendUint64(dst, number^number>>1)
		return append(dst, 0, 0, 0, 0)
	}},
}

// rangeShift gives each filter of a cell a range of numbers of its own: the first
// n are added, those that follow are asked for. So every filter has other keys.
const rangeShift = 36

func firstNumber(filter int) uint64 { return uint64(filter) << rangeShift }

// mix is a bijection on 64 bits whose output looks random (the finalizer of
// SplitMix64: Steele, Lea & Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
