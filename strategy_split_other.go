//go:build !amd64 || purego || race

package bloom

func kernelOfSplit(bitArray) strategyID { return idSplitBlock }

// These are never called.

func splitContains(f *BloomFilter, h1 uint64) bool { return splitContainsGo(f, h1) }
func splitAdd(f *BloomFilter, h1 uint64) bool      { return splitAddGo(f, h1) }

func splitContainsMany(f *BloomFilter, d *digest128, n int, yes *bool) int { return 0 }
