package persist

import (
	"fmt"
	"io"
	"runtime"

	"github.com/seed3447c163/bloom"
)

// What concerns the filter as a whole.

// Union adds every key of other to the file, in O(m). The error wraps
// [bloom.ErrIncompatible], [ErrReadOnly] or os.ErrClosed, and then the file is
// unchanged.
func (f *File) Union(other *bloom.BloomFilter) error {
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		return f.failure("Union")
	}
	err := m.filter.Union(other)
	runtime.KeepAlive(m)
	return err
}

// Snapshot returns an independent copy in memory, in O(m) time and memory. It
// contains every key whose Add had returned, in any process, before Snapshot was
// called, and is good after Close, too.
func (f *File) Snapshot() *bloom.BloomFilter {
	m := f.reading("Snapshot")
	snapshot := m.filter.Clone()
	runtime.KeepAlive(m)
	return snapshot
}

// WriteTo writes what [bloom.BloomFilter.WriteTo] writes, a snapshot for [Save],
// [Load] and [bloom.Read], without a copy in memory. The error is that of w, or wraps
// os.ErrClosed.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	m := f.mapping.Load()
	if m == nil {
		return 0, f.failure("WriteTo")
	}
	n, err := m.filter.WriteTo(w)
	runtime.KeepAlive(m)
	return n, err
}

// FillRatio returns the share of bits that are set, in O(m); see
// [bloom.Stats].
func (f *File) FillRatio() float64 {
	m := f.reading("FillRatio")
	ratio := m.filter.Stats().FillRatio
	runtime.KeepAlive(m)
	return ratio
}

// EstimatedCount returns how many different keys have most likely been added, by
// all processes since the file was made, in O(m); see
// [bloom.Stats].
func (f *File) EstimatedCount() uint64 {
	m := f.reading("EstimatedCount")
	count := m.filter.Stats().EstimatedCount
	runtime.KeepAlive(m)
	return count
}

// EstimatedFalsePositiveRate returns the rate as things stand, in O(m); see
// [bloom.Stats].
func (f *File) EstimatedFalsePositiveRate() float64 {
	m := f.reading("EstimatedFalsePositiveRate")
	rate := m.filter.Stats().EstimatedFalsePositiveRate
	runtime.KeepAlive(m)
	return rate
}

// Stats returns all of that from one pass over the bits, in O(m); see
// [bloom.BloomFilter.Stats].
func (f *File) Stats() bloom.Stats {
	m := f.reading("Stats")
	stats := m.filter.Stats()
	runtime.KeepAlive(m)
	return stats
}

// Path returns the path that the file was opened by.
func (f *File) Path() string { return f.path }

// Scheme returns the filter without its bits. Its Filter method makes one in memory
// that can be united with the file.
func (f *File) Scheme() bloom.Scheme { return f.scheme }

// Params returns what the filter was made with.
func (f *File) Params() bloom.Params { return f.scheme.Params() }

// SizeBytes returns the bytes that the bits take; the file is 4096 bytes larger.
func (f *File) SizeBytes() uint64 { return f.scheme.SizeBytes() }

// String describes the file in a line for a log, in constant time.
func (f *File) String() string {
	return fmt.Sprintf("persist.File(path=%q %s bytes=%d)", f.path, f.scheme.Identity(), f.SizeBytes())
}
