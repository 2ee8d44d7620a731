package main

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
)

// A subject is what is measured: a strategy of ours or another library's filter.
type subject struct {
	name      string
	ours      bool // sized by New, and held to the promise
	everyKind bool // measured with all kinds of keys where that is cheap
	maxN      uint64
	minP      float64
	make      func(n uint64, p float64) (filters.Filter, error)
}

// maxContrastN bounds the contrast: what there is to see is seen by then.
const maxContrastN = 10_000_000

// textbook puts a key's bits on an arithmetic progression, as double hashing is usually
// described: here for contrast.
var textbook = bloom.NewStrategy("textbook-double-hashing", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*h2) % m
})})

func subjects() []*subject {
	ours := func(s bloom.Strategy, opts ...bloom.Option) func(n uint64, p float64) (filters.Filter, error) {
		return func(n uint64, p float64) (filters.Filter, error) {
			f, err := bloom.New(n, p, append(opts, bloom.WithStrategy(s))...)
			return filters.Single(f), err
		}
	}
	mapHash, rapidHash := bloom.WithHash(bloom.MapHash), bloom.WithHash(bloom.RapidHash)
	list := []*subject{
		{"DoubleHashing", true, true, math.MaxUint64, 0, ours(bloom.DoubleHashing)},
		{"Blocked", true, true, math.MaxUint64, 0, ours(bloom.Blocked)},
		{"SplitBlock", true, true, math.MaxUint64, 1e-7, ours(bloom.SplitBlock)}, // refused below
		// k hashes of each key: at 10^8 keys an hour for what says nothing new.
		{"SeededHashing", true, true, 10_000_000, 0, ours(bloom.SeededHashing)},
		{"DoubleHashing, MapHash", true, false, 1_000_000, 0, ours(bloom.DoubleHashing, mapHash)},
		{"Blocked, MapHash", true, false, 1_000_000, 0, ours(bloom.Blocked, mapHash)},
		{"SplitBlock, MapHash", true, false, 1_000_000, 1e-7, ours(bloom.SplitBlock, mapHash)},
		{"DoubleHashing, RapidHash", true, true, 1_000_000, 0, ours(bloom.DoubleHashing, rapidHash)},
		{"Blocked, RapidHash", true, true, 1_000_000, 0, ours(bloom.Blocked, rapidHash)},
		{"SplitBlock, RapidHash", true, true, 1_000_000, 1e-7, ours(bloom.SplitBlock, rapidHash)},
		{"textbook double hashing", false, false, maxContrastN, 0, ours(textbook)},
	}
	for _, p := range filters.Others() {
		if slices.Contains([]string{"bits-and-blooms", "holiman/bloomfilter", "ristretto z.Bloom", "pebble"}, p.Name) {
			list = append(list, &subject{name: p.Name, maxN: maxContrastN, make: p.Make})
		}
	}
	return list
}

// A kind is a way to make keys of numbers: different numbers, different keys.
type kind struct {
	name   string
	append func(dst []byte, number uint64) []byte
}

// urls is the kind that the others are asked for.
const urls = 1

// kinds are what keys look like in programs, from the easiest to hash to the hardest.
var kinds = []kind{
	{"random", func(dst []byte, number uint64) []byte {
		h1, _ := bloom.Digest64(number)
		return binary.LittleEndian.AppendUint64(dst, h1)
	}},
	{"URLs", func(dst []byte, number uint64) []byte {
		return strconv.AppendUint(append(dst, "https://www.example.com/articles/"...), number, 10)
	}},
	{"sequential", binary.LittleEndian.AppendUint64},
	// Sixteen bytes that count in Gray code: each key differs from the one before in a
	// single bit.
	{"one bit", func(dst []byte, number uint64) []byte {
		dst = binary.LittleEndian.AppendUint64(append(dst, 0, 0, 0, 0), number^number>>1)
		return append(dst, 0, 0, 0, 0)
	}},
}
