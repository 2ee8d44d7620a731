package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/regular"
)

// A List is a filter that somebody else publishes as a file, again and again: leaked
// passwords, blocked addresses. Make one with [OpenList]. The file is a snapshot, as
// [persist.Save] and the command bloom write it.
//
// The filter is read into memory, checked to the last byte, and then put in the place
// of the one before, as a Guard's is: no lookup waits, and each is answered by one of
// the two. Whatever happens to the file, the process goes on with the last good one.
// (A mapped file, of [persist.Open], has no such protection: when somebody copies
// another file over it, the system stops each process that reads it there.)
//
// All methods are safe for concurrent use by multiple goroutines.
type List struct {
	filter atomic.Pointer[bloom.BloomFilter]

	path string
	opts []bloom.Option

	mu   sync.Mutex // Reload, one after the other
	seen sight
	sum  uint64 // of the bytes of the filter that is asked
	err  error  // of what was seen
}

// A sight is what tells one content of the file from another without reading it.
type sight struct {
	info os.FileInfo
	read time.Time // when reading began
}

// settle is the age from which on a file's time of change is believed: a change just
// after reading may leave the same time, as file systems count in steps, of up to two
// seconds.
const settle = 3 * time.Second

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

// Reload looks whether there is a new file, or the old one has been changed in its
// place, and if so reads it. It returns whether another list is asked now. If nothing
// has changed for some seconds it only asks the system for the file's time.
//
// The error says what is wrong with the file that is there now, the same one each time
// until it changes; the old list stays. A file that is just being written is such a
// file, until it is whole: who publishes renames a complete one, as persist.Save does,
// and nobody sees half of it.
func (l *List) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, info, err := regular.Open(l.path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		l.seen = sight{}
		return false, notOpened(err)
	}
	defer file.Close()
	if l.seen.same(info) {
		return false, l.err
	}
	l.seen = sight{info, time.Now()}
	f, sum, err := readList(file, l.opts)
	if err != nil {
		if errors.As(err, new(*fs.PathError)) {
			l.seen = sight{} // the disk's or the network's, not the content's
		}
		l.err = fmt.Errorf("%w (in %q)", err, l.path)
		return false, l.err
	}
	l.err = nil
	if l.filter.Load() != nil && sum == l.sum {
		return false, nil
	}
	l.sum = sum
	l.filter.Store(f)
	return true, nil
}

// same reports whether the file has the content that was seen.
func (s sight) same(info os.FileInfo) bool {
	return s.info != nil && os.SameFile(s.info, info) && s.info.Size() == info.Size() &&
		s.info.ModTime().Equal(info.ModTime()) && s.read.Sub(info.ModTime()) >= settle
}

var seed = maphash.MakeSeed()

func readList(file *os.File, opts []bloom.Option) (*bloom.BloomFilter, uint64, error) {
	var sum maphash.Hash
	sum.SetSeed(seed)
	r := bufio.NewReaderSize(io.TeeReader(file, &sum), 1<<16)
	f, err := bloom.Read(r, opts...)
	if err == io.EOF {
		err = short()
	}
	if err == nil {
		err = ends(r)
	}
	return f, sum.Sum64(), err
}

// Watch calls Reload at every interval until ctx is done, and report after each that has
// changed the list or returned another error than the one before; nil after an error
// means that the file is good again. It returns ctx's error, or one that wraps
// [bloom.ErrInvalid] if the interval is not above 0.
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

// SizeBytes returns the memory of the list.
func (l *List) SizeBytes() uint64 { return l.filter.Load().SizeBytes() }

// String describes the list in a line for a log, in constant time.
func (l *List) String() string {
	return fmt.Sprintf("guard.List(path=%q filter=%v)", l.path, l.filter.Load())
}
