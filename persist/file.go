package persist

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

// A File is a Bloom filter in a memory-mapped file. Make one with [Open],
// [OpenExisting] or [OpenReadOnly].
//
// All methods are safe for concurrent use by multiple goroutines. Any number of processes
// on one machine can open the same file: they share one filter, and every promise of
// [bloom.BloomFilter] holds among all of them. Add and Contains take no lock and allocate
// nothing.
//
// A key whose Add has returned is in the file, as the operating system sees it: the program
// may crash or be killed. If the machine itself stops, keys added since the last
// [File.Sync] may be lost.
//
// After Close, methods that return an error return one that wraps os.ErrClosed, and the
// others panic with such an error. Methods that add to a file opened read-only do the same
// with [ErrReadOnly]. An operation that runs while another goroutine calls Close finishes
// as if Close had come later.
//
// To replace a File that goroutines are using, do not close it. Keep the current File in
// an atomic.Pointer, store the new one, and forget the old one: the garbage collector
// closes it when no goroutine uses it any more. See the example.
//
// The operating system stops a program that touches a mapped file after another program
// has truncated it, or if the disk cannot be read. Never truncate, overwrite or replace a
// file that is open. Removing it is harmless.
type File struct {
	path    string
	scheme  bloom.Scheme
	mapping atomic.Pointer[mapping] // nil once closed
	mu      sync.Mutex              // guards file, syncs, and closing
	file    *os.File                // for Sync
	syncs   int                     // Sync calls under way
}

// A mapping is a file in memory with a filter over it. Each operation keeps it alive by
// runtime.KeepAlive, and the garbage collector unmaps it. So Close need not wait for
// operations or count them; a shared counter would cost more than an Add.
type mapping struct {
	filter   *bloom.BloomFilter
	data     []byte
	readOnly bool
}

// reading returns the mapping for an operation that only looks. Like writing, it is
// short enough to be inlined.
func (f *File) reading(op string) *mapping {
	m := f.mapping.Load()
	if m == nil {
		panic(f.failure(op))
	}
	return m
}

// writing returns the mapping for an operation that adds.
func (f *File) writing(op string) *mapping {
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		panic(f.failure(op))
	}
	return m
}

// failure is the error of an operation on a closed file, or of an add to a read-only one.
func (f *File) failure(op string) error { return &failure{f.path, op, f.mapping.Load() == nil} }

type failure struct {
	path, op string
	closed   bool
}

func (e *failure) Error() string {
	return fmt.Sprintf("persist: %s on %q: %v", e.op, e.path, e.Unwrap())
}

func (e *failure) Unwrap() error {
	if e.closed {
		return os.ErrClosed
	}
	return ErrReadOnly
}

// Add adds a key. It returns true if the key is new, and then no other call in any process
// returns true for it; false if the key was probably there already. See
// [bloom.BloomFilter.Add].
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

// AddMany adds many keys. It is faster than Add in a loop if the filter is larger than the
// cache; see [bloom.BloomFilter.AddMany].
func (f *File) AddMany(keys [][]byte, added []bool) int {
	m := f.writing("AddMany")
	count := m.filter.AddMany(keys, added)
	runtime.KeepAlive(m)
	return count
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

// ContainsMany looks up many keys. It is faster than Contains in a loop if the filter is
// larger than the cache; see [bloom.BloomFilter.ContainsMany].
func (f *File) ContainsMany(keys [][]byte, found []bool) int {
	m := f.reading("ContainsMany")
	count := m.filter.ContainsMany(keys, found)
	runtime.KeepAlive(m)
	return count
}

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
// contains every key whose Add had returned, in any process, before the call. It stays
// valid after Close.
func (f *File) Snapshot() *bloom.BloomFilter {
	m := f.reading("Snapshot")
	snapshot := m.filter.Clone()
	runtime.KeepAlive(m)
	return snapshot
}

// WriteTo writes a snapshot for [Load] and [bloom.Read], as [bloom.BloomFilter.WriteTo]
// does, without a copy in memory. The error is that of w, or wraps os.ErrClosed.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	m := f.mapping.Load()
	if m == nil {
		return 0, f.failure("WriteTo")
	}
	n, err := m.filter.WriteTo(w)
	runtime.KeepAlive(m)
	return n, err
}

// Stats returns what the filter contains, in O(m); see [bloom.BloomFilter.Stats].
func (f *File) Stats() bloom.Stats {
	m := f.reading("Stats")
	stats := m.filter.Stats()
	runtime.KeepAlive(m)
	return stats
}

// Scheme returns the filter without its bits. Its Filter method makes a filter in memory
// that can be united with the file.
func (f *File) Scheme() bloom.Scheme { return f.scheme }

// Params returns the filter's parameters.
func (f *File) Params() bloom.Params { return f.scheme.Params() }

// SizeBytes returns the size of the bits; the file is 4096 bytes larger.
func (f *File) SizeBytes() uint64 { return f.scheme.SizeBytes() }

// String describes the file in a line for a log, in constant time.
func (f *File) String() string {
	return fmt.Sprintf("persist.File(path=%q %s bytes=%d)", f.path, f.scheme.Identity(), f.SizeBytes())
}

// Sync returns when every key whose Add had returned before the call, in any process, is
// safe against a power cut. It writes all changed parts of the file to the disk; adds, other
// Syncs and Close can go on. After an error nothing is known to be on the disk. The error
// wraps [ErrReadOnly] if the file was opened read-only: some systems need write access.
//
// Without Sync the operating system writes changes within about half a minute, in any
// order. A power cut then loses some of the keys added since the last Sync and damages
// nothing else.
func (f *File) Sync() error {
	m, err := f.beginSync()
	if err != nil {
		return err
	}
	defer f.endSync()
	err = flush(f.file, m.data)
	runtime.KeepAlive(m)
	return failed("Sync", f.path, err)
}

// beginSync keeps the file open until endSync.
func (f *File) beginSync() (*mapping, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		return nil, f.failure("Sync")
	}
	f.syncs++
	return m, nil
}

// endSync closes the file if Close has left that to the last Sync.
func (f *File) endSync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncs--; f.syncs == 0 && f.mapping.Load() == nil {
		_ = f.file.Close() // Close has returned, and the data is on the disk
	}
}

// Close ends the use of the file. It waits for no operation and disturbs none. It does not
// write to the disk: call Sync first if the keys must survive a power cut. A second Close
// returns an error that wraps os.ErrClosed.
//
// The garbage collector gives back the address space, and the disk space of a removed
// file, when no operation uses the file, usually within two minutes. On Windows the file
// cannot be removed before.
//
// The garbage collector closes a File that is forgotten without Close.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mapping.Load() == nil {
		return f.failure("Close")
	}
	f.mapping.Store(nil)
	if f.syncs > 0 {
		return nil // the last Sync closes it
	}
	return failed("close", f.path, f.file.Close())
}
