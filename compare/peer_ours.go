package main

import (
	"sync"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

const ourModule = "github.com/seed3447c163/bloom"

// oneByOne is this library, a key at a time.
type oneByOne struct{ f *bloom.BloomFilter }

func (o oneByOne) addAll(keys [][]byte) (added int) {
	for _, key := range keys {
		added += count(o.f.Add(key))
	}
	return added
}

func (o oneByOne) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		found += count(o.f.Contains(key))
	}
	return found
}

func (o oneByOne) bits() uint64 { return o.f.SizeBytes() * 8 }

// batches is this library, a chunk of keys a call, with an answer for each key.
type batches struct{ oneByOne }

func (b batches) addAll(keys [][]byte) int {
	answers := answerPool.Get().(*[chunkKeys]bool)
	defer answerPool.Put(answers)
	return b.f.AddMany(keys, answers[:len(keys)])
}

func (b batches) containsAll(keys [][]byte) int {
	answers := answerPool.Get().(*[chunkKeys]bool)
	defer answerPool.Put(answers)
	return b.f.ContainsMany(keys, answers[:len(keys)])
}

// answerPool has a slice for each worker, as a program would keep one.
var answerPool = sync.Pool{New: func() any { return new([chunkKeys]bool) }}

// count is 1 for true, without a branch.
func count(yes bool) int { return int(*(*uint8)(unsafe.Pointer(&yes))) }
