package guard

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/regular"
)

// A List is a filter that another program publishes as a file, again and again: leaked passwords,
// blocked addresses. Make one with [OpenList]. The file is a snapshot, as [persist.Save] and the
// command bloom write it.
//
// A List reads a new file into memory, checks every byte, and then replaces the old filter. No
// lookup waits, and each lookup uses one of the two filters. The last good filter stays whatever
// happens to the file. A mapped file has no such protection: the system stops each process that
// reads a truncated part.
//
// All methods are safe for concurrent use by multiple goroutines.
type List struct {
	filter atomic.Pointer[bloom.BloomFilter]

	path string
	opts []bloom.Option

	mu   sync.Mutex
	seen sight // of the file that the filter is from; guarded by mu
}

// A sight distinguishes a list from any other without reading all of it: a file ends with its
// checksum of 64 bits.
type sight struct {
	size int64
	end  [format.TrailerBytes]byte
}

// OpenList reads the list in the file at path. Options are those of [bloom.Read].
//
// The error is that of Read or of the operating system.
func OpenList(path string, opts ...bloom.Option) (*List, error) {
	l := &List{path: path, opts: opts}
	if _, err := l.Reload(); err != nil {
		return nil, err
	}
	return l, nil
}

// Contains returns false if the key is definitely not in the list, true if it probably
// is.
func (l *List) Contains(key []byte) bool { return l.filter.Load().Contains(key) }

// ContainsString is [List.Contains] for a string, without copying it.
func (l *List) ContainsString(key string) bool { return l.filter.Load().ContainsString(key) }

// Reload reads the file again if it holds another list, and reports whether it does. Otherwise it
// reads only the file's last bytes.
//
// The error describes the file; the old list stays, and each Reload reads a bad file
// again. A file that is just being written is bad until it is whole. A publisher that renames a
// complete file, as persist.Save does, avoids that.
func (l *List) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, info, err := regular.Open(l.path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		return false, notOpened(err)
	}
	defer file.Close()
	before := sightOf(file, info)
	if before == l.seen {
		return false, nil
	}
	f, err := bloom.Read(file, l.opts...)
	if err == io.EOF {
		err = format.Truncated("the header")
	}
	if err == nil {
		err = ends(file)
	}
	if err == nil {
		info, err = file.Stat()
	}
	if err != nil {
		return false, fmt.Errorf("%w (in %q)", err, l.path)
	}
	if l.seen = before; sightOf(file, info) != before {
		l.seen = sight{} // it was written to while it was read
	}
	l.filter.Store(f)
	return true, nil
}

func sightOf(file *os.File, info os.FileInfo) sight {
	s := sight{size: info.Size()}
	if _, err := file.ReadAt(s.end[:], max(0, s.size-int64(len(s.end)))); err != nil {
		return sight{size: -1} // no list
	}
	return s
}

// Watch calls Reload at every interval until ctx is done. It calls report after each Reload that has
// changed the list or returned another error than the one before; nil after an error means that the
// file is good again. It returns the error of ctx, or one that wraps [bloom.ErrInvalid] if the
// interval is not above 0.
func (l *List) Watch(ctx context.Context, every time.Duration, report func(changed bool, err error)) error {
	if every <= 0 {
		return fmt.Errorf("%w: an interval of %v, want more than 0", bloom.ErrInvalid, every)
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

// Stats returns what the list contains, in O(m), see [bloom.BloomFilter.Stats].
func (l *List) Stats() bloom.Stats { return l.filter.Load().Stats() }
