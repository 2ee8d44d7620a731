package counting

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// BloomFilter returns a plain filter with the same keys, in O(m). It takes a quarter of the memory,
// and Contains gives the same answers.
//
// While keys are added and removed, it contains every key that is present during the whole call.
func (f *Filter) BloomFilter() *bloom.BloomFilter {
	f.check()
	b, err := f.scheme.Filter()
	if err != nil {
		panic(err) // never: the counters are in memory and take four times as much
	}
	plain := b.Words()
	for i := range f.counters {
		set := gather(nonzero(f.counters[i].Load()))
		plain[i/4].Store(plain[i/4].Load() | set<<(i%4*perWord))
	}
	return b
}

// Stats describes the result of [Filter.BloomFilter], in O(m). M is the number of counters, Ones is the number of
// counters that are not 0, and SizeBytes is the memory of all counters.
func (f *Filter) Stats() bloom.Stats {
	s := f.BloomFilter().Stats()
	s.SizeBytes = f.SizeBytes()
	return s
}

// SizeBytes returns the number of bytes that the counters take.
func (f *Filter) SizeBytes() uint64 {
	f.check()
	return uint64(len(f.counters)) * 8
}

// String describes the filter in one line, in constant time.
func (f *Filter) String() string {
	if f.counters == nil {
		return "counting.Filter(zero)"
	}
	p := f.scheme.Params()
	return fmt.Sprintf("counting.Filter(n=%d p=%g m=%d k=%d strategy=%s bytes=%d)", p.N, p.P, p.M, p.K, f.scheme.Strategy(), f.SizeBytes())
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [Filter.WriteTo].
func (f *Filter) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a counting.Filter", "WriteTo")
}
