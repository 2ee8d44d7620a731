/*
Copyright (C) 2025 Nicolas De Carli
Based on wyhash, by Wang Yi <godspeed_china@yeah.net>

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/

// Package rapidhash is rapidhash V3, translated into Go. Its functions for short keys inline into lookups.
package rapidhash

import (
	"encoding/binary"
	"math/bits"
)

const (
	secret0 = 0x2d358dccaa6c78a5
	secret1 = 0x8bb84b93962eacc9
	secret2 = 0x4b33a62ed433d4a3
	secret3 = 0x4d5a2da51de1aa47
	secret4 = 0xa0761d6478bd642f
	secret5 = 0xe7037ed1a0b428db
	secret6 = 0x90ed1765281c388c
	secret7 = 0xaaaaaaaaaaaaaaaa
)

// Start returns the initial state for a seed.
func Start(seed uint64) uint64 { return seed ^ fold(seed^secret2, secret1) }

// Sum returns the hash of a key.
func Sum(state uint64, key []byte) uint64 {
	switch n := len(key); {
	case n > 48:
		return sumLong(state, key)
	case n > 16:
		return Tail(Head(state, key), key)
	case n >= 8:
		return end(binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:]), state^uint64(n), n)
	case n >= 4:
		return end(uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:])), state^uint64(n), n)
	case n > 0:
		return end(uint64(key[0])<<45|uint64(key[n-1]), uint64(key[n/2]), state, n)
	}
	return end(0, 0, state, 0)
}

// Inlines reports whether Tail(Head(state, key), key) equals Sum(state, key) for a key of n bytes. The compiler inlines
// these three functions but not Sum. This saves 0.4 ns per lookup in SplitBlock and 0.8 ns per add of a present key.
func Inlines(n int) bool { return n > 16 && n <= 48 }

// Head returns the state after all but the last 1 to 16 bytes of key, see [Inlines].
func Head(state uint64, key []byte) uint64 {
	for ; len(key) > 16; key = key[16:] {
		state = absorb(state, key, secret2)
	}
	return state
}

// Tail returns the hash of key. state is the result of Head.
func Tail(state uint64, key []byte) uint64 {
	last := key[len(key)-16:]
	return end(binary.LittleEndian.Uint64(last)^uint64(len(key)), binary.LittleEndian.Uint64(last[8:]), state, len(key))
}

// sumLong does the work of Sum for keys of more than 48 bytes.
func sumLong(state uint64, key []byte) uint64 {
	rest := key
	if len(rest) > 112 {
		s1, s2, s3, s4, s5, s6 := state, state, state, state, state, state
		for len(rest) > 112 {
			state = absorb(state, rest, secret0)
			s1 = absorb(s1, rest[16:], secret1)
			s2 = absorb(s2, rest[32:], secret2)
			s3 = absorb(s3, rest[48:], secret3)
			s4 = absorb(s4, rest[64:], secret4)
			s5 = absorb(s5, rest[80:], secret5)
			s6 = absorb(s6, rest[96:], secret6)
			rest = rest[112:]
		}
		state ^= s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6
	}
	if len(rest) > 16 {
		state = absorb(state, rest, secret2)
		if len(rest) > 32 {
			state = absorb(state, rest[16:], secret2)
		}
		if len(rest) > 48 {
			state = absorb(state, rest[32:], secret1)
			if len(rest) > 64 {
				state = absorb(state, rest[48:], secret1)
				if len(rest) > 80 {
					state = absorb(state, rest[64:], secret2)
					if len(rest) > 96 {
						state = absorb(state, rest[80:], secret1)
					}
				}
			}
		}
	}
	last := key[len(key)-16:]
	return end(binary.LittleEndian.Uint64(last)^uint64(len(rest)), binary.LittleEndian.Uint64(last[8:]), state, len(rest))
}

// absorb returns the state after the first 16 bytes of key.
func absorb(state uint64, key []byte, secret uint64) uint64 {
	return fold(binary.LittleEndian.Uint64(key)^secret, binary.LittleEndian.Uint64(key[8:])^state)
}

// end returns the hash, from the state and the last bytes.
func end(a, b, state uint64, n int) uint64 {
	hi, lo := bits.Mul64(a^secret1, b^state)
	return fold(lo^secret7, hi^secret1^uint64(n))
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
