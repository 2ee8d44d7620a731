//go:build !amd64 || purego || race

package bloom

import "unsafe"

func kernelOfSplit(bitArray) strategyID { return idSplitBlock }

const hasAVX2 = false

// These are never called.

func splitContains(f *BloomFilter, h1 uint64) bool { return splitContainsGo(f, h1) }
func splitContainsAt(unsafe.Pointer, uint64) bool  { panic("bloom: no vectors") }
func splitAdd(f *BloomFilter, h1 uint64) bool      { return splitAddGo(f, h1) }

func splitContainsMany(f *BloomFilter, d *digest128, n int, yes *bool) int { return 0 }
