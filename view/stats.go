package view

import (
	"encoding/binary"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
)

// SizeBytes returns the number of bytes that the bits take, without the trailer.
func (v View) SizeBytes() uint64 {
	v.check()
	return uint64(v.bytes)
}

// Stats describes the filter, in O(m) time and memory, because it copies the bits; see [bloom.BloomFilter.Stats].
func (v View) Stats() bloom.Stats {
	v.check()
	s := v.scheme
	if s == nil {
		s = sure(bloom.NewSchemeWithParams(bloom.Params{M: v.m(), K: int(v.meta & 0xff)},
			bloom.WithStrategy(strategies[v.meta>>8&0xff]), bloom.WithHash(hashes[v.meta>>16&0xff]), bloom.WithSeed(v.seed())))
	}
	words := memory.MakeWords(s.SizeBytes() / 8)
	copy(memory.BytesOfWords(words), unsafe.Slice((*byte)(v.bits), v.bytes))
	format.ToNative(words, binary.LittleEndian)
	if rest := s.Params().M % 64; rest > 0 {
		words[len(words)-1].And(1<<rest - 1) // the view ignores the other bits
	}
	return sure(s.FilterOver(words)).Stats()
}

// sure returns value. err is nil, because the view was checked when it was made.
func sure[T any](value T, err error) T {
	if err != nil {
		panic("view: " + err.Error())
	}
	return value
}

// check panics for the zero View.
func (v View) check() {
	if v.meta == 0 {
		panic(zeroView)
	}
}

// ContainsMany looks up keys. It returns how many were probably added. If found is not nil, ContainsMany sets found[i]
// to the answer of Contains for keys[i]. It panics if found is neither nil nor as long as keys.
func (v View) ContainsMany(keys [][]byte, found []bool) (count int) {
	batch.CheckAnswers("view", len(keys), found)
	for i, key := range keys {
		count += batch.Answer(v.Contains(key), found, i)
	}
	return count
}
