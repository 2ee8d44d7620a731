//go:build !amd64 || purego || race

package bloom

func splitVectors(bitArray) bool { return false }

func splitContains(f *BloomFilter, h1 uint64) bool { return splitContainsGo(f, h1) }
func splitAdd(f *BloomFilter, h1 uint64) bool      { return splitAddGo(f, h1) }
