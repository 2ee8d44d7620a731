package main

import (
	"math"

	"github.com/seed3447c163/bloom"
)

// A subject is what is measured: a strategy of ours or a peer's filter.
type subject struct {
	name  string
	ours  bool // sized by New, and held to the promise
	peer  string
	maxN  uint64
	open  func(n uint64, p float64) (*sample, error)
	about string
}

// A sample makes the filters of one cell, one after the other; the one before is
// not used any more.
type sample struct {
	m         uint64
	k         int // 0 if unknown
	predicted float64
	next      func() filter
	// rate returns the exact rate of the present filter, by its bits; spread
	// estimates how much that differs from one filter to the next. Both are nil
	// where the bits do not say.
	rate   func() float64
	spread func() float64
}

// A filter is the smallest interface that measures a rate.
type filter interface {
	Add(key []byte)
	Contains(key []byte) bool
}

// A sealer must be told when all keys are in.
type sealer interface{ Seal() }

type ourFilter struct{ *bloom.BloomFilter }

func (f ourFilter) Add(key []byte) { f.BloomFilter.Add(key) }

// textbook puts a key's bits on an arithmetic progression, as double hashing is
// usually described: here for contrast.
var textbook = bloom.NewStrategy("textbook-double-hashing", bloom.Definition{Index: func(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*h2) % m
}})

const anyN = math.MaxUint64

// ourSubjects are held to the promise.
func ourSubjects() []*subject {
	fast := bloom.WithHash(bloom.MapHash)
	return []*subject{
		ourSubject("DoubleHashing", bloom.DoubleHashing, anyN),
		ourSubject("Blocked", bloom.Blocked, anyN),
		// k hashes of each key: at 10^8 keys an hour for what says nothing new.
		ourSubject("SeededHashing", bloom.SeededHashing, 10_000_000),
		ourSubject("DoubleHashing, MapHash", bloom.DoubleHashing, 1_000_000, fast),
		ourSubject("Blocked, MapHash", bloom.Blocked, 1_000_000, fast),
	}
}

func ourSubject(name string, s bloom.Strategy, maxN uint64, opts ...bloom.Option) *subject {
	return &subject{name: name, ours: true, maxN: maxN, open: func(n uint64, p float64) (*sample, error) {
		return openOurs(n, p, s, opts...)
	}}
}

func openOurs(n uint64, p float64, s bloom.Strategy, opts ...bloom.Option) (*sample, error) {
	f, err := bloom.New(n, p, append([]bloom.Option{bloom.WithStrategy(s)}, opts...)...)
	if err != nil {
		return nil, err
	}
	params, made := f.Params(), f.Strategy()
	smp := &sample{m: params.M, k: params.K, predicted: made.FalsePositiveRate(params.M, params.K, n), rate: f.EstimatedFalsePositiveRate}
	smp.next = func() filter {
		f.Clear()
		return ourFilter{f}
	}
	if s.Name() == bloom.Blocked.Name() {
		smp.spread = func() float64 { return blockedSpread(f) }
	} else {
		smp.spread = func() float64 { return independentSpread(params.M, params.K, n) }
	}
	return smp, nil
}

// openTextbook is New's filter with another strategy. Its bits do not tell its
// rate: a key's positions are not independent.
func openTextbook(n uint64, p float64) (*sample, error) {
	smp, err := openOurs(n, p, textbook)
	if err == nil {
		smp.rate, smp.spread = nil, nil
	}
	return smp, err
}
