package persist

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// A File is a Bloom filter in a memory-mapped file. Make one with [Open], [OpenExisting] or
// [OpenReadOnly].
//
// All methods are safe for concurrent use by multiple goroutines. Any number of processes on one
// machine can open the same file. They share one filter, and every promise of [bloom.BloomFilter]
// holds among them. Add and Contains take no lock and allocate nothing.
//
// A key whose Add has returned survives a crash of the program. A power cut can lose keys that
// were added since the last [File.Sync].
//
// After Close, methods that return an error return one that wraps os.ErrClosed, and the others panic with such an
// error. The zero File is closed. In a file opened read-only, methods that add do the same with fs.ErrPermission.
// Operations that run during Close complete; Sync may return os.ErrClosed instead. The garbage collector closes a File
// that is no longer used. So to replace a File that goroutines use, store the new one in an atomic.Pointer and do not
// close the old one.
//
// The operating system stops a program that touches a mapped file after another program has
// truncated it. Never truncate, overwrite or replace an open file. Removing it is harmless.
type File struct {
	path    string
	scheme  *bloom.Scheme
	file    *os.File                // for Sync
	mapping atomic.Pointer[mapping] // nil once closed
}

// A mapping is a mapped file and the filter of its words. Each operation keeps it alive with runtime.KeepAlive, and the
// garbage collector unmaps it. So Close need not count operations or wait for them; a shared counter would cost more
// than an Add.
type mapping struct {
	filter   *bloom.BloomFilter
	data     []byte
	readOnly bool
}

// reading returns the mapping. It panics with the name op of the operation if the file is closed. The methods reading
// and writing are short enough to be inlined.
func (f *File) reading(op string) *mapping {
	m := f.mapping.Load()
	if m == nil {
		panic(f.failure(op))
	}
	return m
}

// writing is like reading, but also panics if the file is read-only.
func (f *File) writing(op string) *mapping {
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		panic(f.failure(op))
	}
	return m
}

var errReadOnly = fmt.Errorf("the file is open read-only: %w", fs.ErrPermission)

// failure returns the error of an operation on a closed file, or of an add to a read-only one.
func (f *File) failure(op string) error {
	if f.mapping.Load() == nil {
		return failed(op, f.path, os.ErrClosed)
	}
	return failed(op, f.path, errReadOnly)
}

// Add adds a key. It returns true if the key is new, false if it was probably there already. Among the calls of all
// processes, at most one gets true for a key. See [bloom.BloomFilter.Add].
func (f *File) Add(key []byte) bool {
	m := f.writing("Add")
	added := m.filter.Add(key)
	runtime.KeepAlive(m)
	return added
}

// AddString is [File.Add] for a string, without copying it.
func (f *File) AddString(key string) bool {
	m := f.writing("AddString")
	added := m.filter.AddString(key)
	runtime.KeepAlive(m)
	return added
}

// AddMany adds many keys. It is faster than Add in a loop if the filter is larger than the cache;
// see [bloom.BloomFilter.AddMany].
func (f *File) AddMany(keys [][]byte, added []bool) int {
	m := f.writing("AddMany")
	defer runtime.KeepAlive(m)
	return m.filter.AddMany(keys, added)
}

// Contains returns false if no process has ever added the key, true if one probably has.
func (f *File) Contains(key []byte) bool {
	m := f.reading("Contains")
	found := m.filter.Contains(key)
	runtime.KeepAlive(m)
	return found
}

// ContainsString is [File.Contains] for a string, without copying it.
func (f *File) ContainsString(key string) bool {
	m := f.reading("ContainsString")
	found := m.filter.ContainsString(key)
	runtime.KeepAlive(m)
	return found
}

// ContainsMany looks up many keys. It is faster than Contains in a loop if the filter is larger
// than the cache; see [bloom.BloomFilter.ContainsMany].
func (f *File) ContainsMany(keys [][]byte, found []bool) int {
	m := f.reading("ContainsMany")
	defer runtime.KeepAlive(m)
	return m.filter.ContainsMany(keys, found)
}

// AddDigest is [File.Add] for a key whose digest is already known, for example from f.Scheme().Digest; see
// [bloom.BloomFilter.AddDigest].
func (f *File) AddDigest(h1, h2 uint64) bool {
	m := f.writing("AddDigest")
	defer runtime.KeepAlive(m)
	return m.filter.AddDigest(h1, h2)
}

// ContainsDigest is [File.Contains] for a key whose digest is already known, see [File.AddDigest].
func (f *File) ContainsDigest(h1, h2 uint64) bool {
	m := f.reading("ContainsDigest")
	found := m.filter.ContainsDigest(h1, h2)
	runtime.KeepAlive(m)
	return found
}

// Union adds every key of other to the file, in O(m). The error wraps [bloom.ErrIncompatible],
// fs.ErrPermission or os.ErrClosed, and then the file is unchanged.
func (f *File) Union(other *bloom.BloomFilter) error {
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		return f.failure("Union")
	}
	defer runtime.KeepAlive(m)
	return m.filter.Union(other)
}

// BloomFilter returns an independent copy in memory, in O(m) time and memory. It contains every key
// whose Add had returned, in any process, before the call.
func (f *File) BloomFilter() *bloom.BloomFilter {
	m := f.reading("BloomFilter")
	defer runtime.KeepAlive(m)
	return m.filter.Clone()
}

// WriteTo writes a snapshot for [Load] and [bloom.Read], as [bloom.BloomFilter.WriteTo] does,
// without a copy in memory. It returns any error from w, or one that wraps os.ErrClosed.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	m := f.mapping.Load()
	if m == nil {
		return 0, f.failure("WriteTo")
	}
	defer runtime.KeepAlive(m)
	return m.filter.WriteTo(w)
}

// Stats describes the filter, in O(m); see [bloom.BloomFilter.Stats].
func (f *File) Stats() bloom.Stats {
	m := f.reading("Stats")
	defer runtime.KeepAlive(m)
	return m.filter.Stats()
}

// SizeBytes returns the number of bytes that the bits take.
func (f *File) SizeBytes() uint64 { return f.reading("SizeBytes").filter.SizeBytes() }

// Scheme returns the filter's parameters, strategy and hash. Its Filter method makes a filter in memory that
// [File.Union] takes.
func (f *File) Scheme() *bloom.Scheme { return f.scheme }

// String describes the file in a line for a log, in constant time.
func (f *File) String() string {
	if f.file == nil {
		return "persist.File(zero)"
	}
	p := f.scheme.Params()
	return fmt.Sprintf("persist.File(path=%q n=%d p=%g %s bytes=%d)", f.path, p.N, p.P, f.scheme, f.scheme.SizeBytes())
}

// Sync writes all changed parts of the file to the disk. When it has returned nil, every key whose Add had returned
// before the call, in any process, is safe against a power cut. Adds may run at the same time.
//
// Without Sync the operating system writes changes within about half a minute, in any order. A
// power cut then loses some of the keys added since the last Sync and damages nothing else.
func (f *File) Sync() error {
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		return f.failure("Sync")
	}
	defer runtime.KeepAlive(m)
	return failed("Sync", f.path, flush(f.file, m.data))
}

// Close releases the file. It does not wait for running operations, and does not write to the disk:
// call Sync first if the keys must survive a power cut. A second Close returns an error that wraps
// os.ErrClosed.
//
// The garbage collector frees the address space, and the disk space of a removed file, usually within two minutes.
// Until then, the file cannot be removed on Windows.
func (f *File) Close() error {
	if f.mapping.Swap(nil) == nil {
		return f.failure("Close")
	}
	return failed("close", f.path, f.file.Close()) // the descriptor stays open while Sync uses it
}

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [File.BloomFilter].
func (f *File) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a persist.File", "BloomFilter")
}

// LogValue returns what String returns, for package log/slog.
func (f *File) LogValue() slog.Value { return slog.StringValue(f.String()) }
