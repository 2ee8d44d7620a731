package persist

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

// A File is a Bloom filter in a memory-mapped file. Make one with [Open],
// [OpenExisting] or [OpenReadOnly].
//
// All methods are safe for concurrent use by multiple goroutines, and any number
// of processes of one machine may have the same file open: it is one filter, and
// all that [bloom.BloomFilter] promises holds among all of them, the one winner of
// an added key included. Add and Contains take no lock and allocate nothing.
//
// What Add has returned from is in the file, as the operating system sees it: the
// program may crash or be killed. Only if the machine itself stops, keys since the
// last [File.Sync] may be lost.
//
// After Close, methods that return an error return one that wraps os.ErrClosed,
// and the others panic with such an error; so do those that add to a file opened
// read-only, with [ErrReadOnly]. An operation that runs while another goroutine calls Close ends
// as if Close had come later.
//
// To replace a File under goroutines that are using it, do not call Close: keep the
// current one in an atomic.Pointer, store the new one, and forget the old. Who still has
// it goes on with it, and when nobody has it any more the garbage collector closes it. No
// reader can then meet a closed file, and none pays for being counted.
//
// The operating system stops a program that touches a mapped file which someone
// has cut short, or which the disk cannot deliver. Never truncate, overwrite or
// replace a file that is open; to remove it is harmless.
type File struct {
	path    string
	scheme  bloom.Scheme
	mapping atomic.Pointer[mapping] // nil once closed
	mu      sync.Mutex              // of what follows, and of closing
	file    *os.File                // for Sync
	syncs   int                     // how many are running
}

// A mapping is a file in memory, with the filter over it. Each operation holds it
// until it has ended, by runtime.KeepAlive, and it is unmapped when nothing holds
// it any more, by the garbage collector. So Close need not wait for operations or
// count them: a counter that all of them change would cost more than an Add.
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

// failure is the error of an operation that needs an open file, or one that may be
// written to.
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

// Add adds a key. It returns true if the key is definitely new and this call, of
// all in all processes, is the one that added it; false if it was probably there
// already. See [bloom.BloomFilter.Add].
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

// AddDigest is [File.Add] for a key whose digest is already known; see
// [bloom.BloomFilter.AddDigest].
func (f *File) AddDigest(h1, h2 uint64) bool {
	m := f.writing("AddDigest")
	added := m.filter.AddDigest(h1, h2)
	runtime.KeepAlive(m)
	return added
}

// AddMany adds many keys, faster than one by one if the filter is larger than the
// cache; see [bloom.BloomFilter.AddMany].
func (f *File) AddMany(keys [][]byte, added []bool) int {
	m := f.writing("AddMany")
	count := m.filter.AddMany(keys, added)
	runtime.KeepAlive(m)
	return count
}

// AddStrings is [File.AddMany] for strings, without copying them.
func (f *File) AddStrings(keys []string, added []bool) int {
	m := f.writing("AddStrings")
	count := m.filter.AddStrings(keys, added)
	runtime.KeepAlive(m)
	return count
}

// Contains returns false if the key was definitely never added, by any process,
// true if it probably was.
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

// ContainsDigest is [File.Contains] for a key whose digest is already known; see
// [bloom.BloomFilter.ContainsDigest].
func (f *File) ContainsDigest(h1, h2 uint64) bool {
	m := f.reading("ContainsDigest")
	found := m.filter.ContainsDigest(h1, h2)
	runtime.KeepAlive(m)
	return found
}

// ContainsMany asks for many keys, faster than one by one if the filter is larger
// than the cache; see [bloom.BloomFilter.ContainsMany].
func (f *File) ContainsMany(keys [][]byte, found []bool) int {
	m := f.reading("ContainsMany")
	count := m.filter.ContainsMany(keys, found)
	runtime.KeepAlive(m)
	return count
}

// ContainsStrings is [File.ContainsMany] for strings, without copying them.
func (f *File) ContainsStrings(keys []string, found []bool) int {
	m := f.reading("ContainsStrings")
	count := m.filter.ContainsStrings(keys, found)
	runtime.KeepAlive(m)
	return count
}

// Hash returns the digest of a key; see [bloom.BloomFilter.Hash].
func (f *File) Digest(key []byte) (h1, h2 uint64) { return f.reading("Digest").filter.Digest(key) }

// DigestString is [File.Hash] for a string, without copying it.
func (f *File) DigestString(key string) (h1, h2 uint64) {
	return f.reading("DigestString").filter.DigestString(key)
}
