package persist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
)

// A List is a filter that another program publishes as a file, again and again: leaked passwords, blocked addresses.
// Make one with [OpenList]. The file is a snapshot, as [Save] and the command bloom write it. To publish it in another
// way, rename a complete file in the same folder, as mv does.
//
//	leaked, err := persist.OpenList("leaked.bloom")
//	go leaked.Watch(ctx, time.Minute, report)
//	if leaked.ContainsString(password) {
//
// A List reads a new file into memory, checks every byte, and then replaces the old filter. Lookups do not wait; each
// uses the old or the new filter. A damaged or missing file does not change the filter. A List does not map the file:
// if a mapped file is truncated, the system ends each process that reads the missing part.
//
// All methods are safe for concurrent use by multiple goroutines. The zero List is not usable: its
// methods return an error or panic, except String.
type List struct {
	filter atomic.Pointer[bloom.BloomFilter]

	path string
	opts []bloom.Option

	mu   sync.Mutex
	seen fingerprint // of the file that was read; guarded by mu
}

// A fingerprint tells files with different lists apart. It has only the size and the end, because the end has a 64-bit
// checksum.
type fingerprint struct {
	size int64
	end  [format.TrailerBytes]byte
}

// OpenList reads the list in the file at path. opts are the options of [bloom.Read].
//
// OpenList returns the errors of Read, and any error from the operating system.
func OpenList(path string, opts ...bloom.Option) (*List, error) {
	l := &List{path: path, opts: slices.Clone(opts)}
	if _, err := l.Reload(); err != nil {
		return nil, err
	}
	return l, nil
}

// getFilter returns the filter. It panics for the zero List.
func (l *List) getFilter() *bloom.BloomFilter {
	f := l.filter.Load()
	if f == nil {
		panic("persist: use of the zero List: make one with OpenList")
	}
	return f
}

// Contains returns false if the key is definitely not in the list, true if it probably
// is.
func (l *List) Contains(key []byte) bool { return l.getFilter().Contains(key) }

// ContainsString is [List.Contains] for a string, without copying it.
func (l *List) ContainsString(key string) bool { return l.getFilter().ContainsString(key) }

// ContainsMany looks up keys as [List.Contains] does, all in the same filter, but faster if it is larger than the
// cache. It returns how many are probably in the list. If found is not nil, ContainsMany sets found[i] to the answer
// for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (l *List) ContainsMany(keys [][]byte, found []bool) int {
	return l.getFilter().ContainsMany(keys, found)
}

// Reload reads the file again if it holds another list, and reports whether it does. Otherwise it
// reads only the file's last bytes.
//
// After an error, the old list stays, and the next Reload reads the file again. A file that is being written is bad
// until it is complete. To avoid that, publish by renaming a complete file, as Save does.
func (l *List) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return false, failure.Errorf(bloom.ErrInvalid, "path \"\" of a list, want the path of a file")
	}
	var now fingerprint
	f, err := LoadWith(l.path, func(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
		file := r.(*os.File)
		if now = sightOf(file); now == l.seen {
			return nil, errSeen
		}
		f, err := bloom.Read(file, opts...)
		if sightOf(file) != now {
			now = fingerprint{} // written to while it was read: the next Reload reads it again
		}
		return f, err
	}, l.opts...)
	switch {
	case errors.Is(err, errSeen):
		return false, nil
	case err != nil:
		return false, err
	}
	l.seen = now
	l.filter.Store(f)
	return true, nil
}

var errSeen = errors.New("the file holds the same list")

func sightOf(file *os.File) (s fingerprint) {
	info, err := file.Stat()
	if err == nil {
		s.size = info.Size()
		_, err = file.ReadAt(s.end[:], max(0, s.size-int64(len(s.end))))
	}
	if err != nil {
		return fingerprint{size: -1} // differs from every file
	}
	return s
}

// Watch calls Reload at every interval until ctx is done. It calls report after each Reload that has changed the list
// or whose error differs from the last one; a nil error after an error means that the file is good again. It returns
// the error of ctx, or one that wraps [bloom.ErrInvalid] if the interval is not above 0.
func (l *List) Watch(ctx context.Context, every time.Duration, report func(changed bool, err error)) error {
	if every <= 0 {
		return failure.Errorf(bloom.ErrInvalid, "an interval of %v, want more than 0", every)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		changed, err := l.Reload()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if changed || text != last {
			report(changed, err)
		}
		last = text
	}
}

// Stats describes the filter, in O(m), see [bloom.BloomFilter.Stats].
func (l *List) Stats() bloom.Stats { return l.getFilter().Stats() }

// SizeBytes returns the number of bytes that the filter's bits take. While Reload reads a new list, there are two
// filters in memory.
func (l *List) SizeBytes() uint64 { return l.getFilter().SizeBytes() }

// String describes the list in a line for a log, in constant time.
func (l *List) String() string {
	f := l.filter.Load()
	if f == nil {
		return "persist.List(zero)"
	}
	return fmt.Sprintf("persist.List(path=%q filter=%v)", l.path, f)
}

// LogValue returns what String returns, for package log/slog.
func (l *List) LogValue() slog.Value { return slog.StringValue(l.String()) }
