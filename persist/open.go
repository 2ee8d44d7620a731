package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

// Open opens the filter in the file at path for n different keys with a
// false-positive rate of at most p, as [bloom.New] makes it of the same arguments.
// If there is no such file, it is made; if there is, it must have been made with
// the same arguments. Opening reads a page of the file, whatever its size.
//
// Any number of goroutines and processes may open the same path at the same time.
// The file gets its name when it is complete, with all its space on the disk
// reserved, so nobody sees half a file, exactly one of them makes it, and the
// others get that one. While it is being made, in the same folder, it is called
// path.unfinished; a leftover of that name, of a process that was killed, is
// removed by the next one. A symbolic link is followed to a file that is there; none is
// made through it.
//
// The error wraps [bloom.ErrInvalid] or [bloom.ErrTooLarge] where New's does;
// [bloom.ErrNotPortable] for [bloom.MapHash] or a strategy without a name, which no
// other process could read; [bloom.ErrIncompatible] if the file was made with other
// parameters, another strategy, hash, seed or key; [bloom.ErrCorrupt] if the file is
// no mapped filter, not a whole one or no regular file; fs.ErrExist if path.unfinished is
// a link or no regular file; errors.ErrUnsupported if this machine cannot
// map files or the file's words have the other byte order; or else it is the
// operating system's.
func Open(path string, n uint64, p float64, opts ...bloom.Option) (*File, error) {
	scheme, err := bloom.NewScheme(n, p, opts...)
	if err != nil {
		return nil, err
	}
	if err := portable(opts); err != nil {
		return nil, err
	}
	// Between two steps another process may make the file or remove it. Not often.
	for range 10 {
		var file *os.File
		file, _, err = openRegular(path, os.O_RDWR, bloom.ErrCorrupt)
		if err == nil {
			return open(file, path, &scheme, opts)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if made := create(osFiles{}, path, scheme); made != nil && made != errMade {
			return nil, fmt.Errorf("persist: create %q: %w", path, made)
		}
	}
	return nil, fmt.Errorf("persist: open %q: %w", path, err)
}

// OpenReadOnly opens the filter in the file at path to ask it. n and p are the
// file's; strategy, hash, seed and key must be given as they were to Open. Keys that
// other processes add are seen at once. The file is never written to, and methods
// that would add to it panic or return [ErrReadOnly].
//
// The error is as that of [Open], and wraps fs.ErrNotExist if there is no file.
func OpenReadOnly(path string, opts ...bloom.Option) (*File, error) {
	file, _, err := openRegular(path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		return nil, fmt.Errorf("persist: open %q: %w", path, err)
	}
	return open(file, path, nil, opts)
}

// portable returns an error if another process could not make sense of the bits:
// that which WriteTo has for the smallest filter with these options.
func portable(opts []bloom.Option) error {
	f, err := bloom.New(1, 0.5, opts...)
	if err != nil {
		return err
	}
	_, err = f.WriteTo(io.Discard)
	return err
}

// open takes over the file: it closes it on error. want is the scheme that the
// caller asked for, nil for the file's.
func open(file *os.File, path string, want *bloom.Scheme, opts []bloom.Option) (*File, error) {
	f := &File{path: path, file: file}
	m, err := f.open(want, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("persist: open %q: %w", path, err), file.Close())
	}
	f.mapping.Store(m)
	return f, nil
}

func (f *File) open(want *bloom.Scheme, opts []bloom.Option) (*mapping, error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	if f.scheme, err = readScheme(f.file, want, opts); err != nil {
		return nil, err
	}
	size, err := fileSize(f.scheme)
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, fmt.Errorf("%w: %d bytes, want %d", bloom.ErrCorrupt, info.Size(), size)
	}
	if want != nil {
		// A copy may have holes where the filter is empty.
		if err := fillHoles(f.file, info); err != nil {
			return nil, err
		}
	}
	return newMapping(f.file, int(size), f.scheme, want == nil)
}

// readScheme reads the header and returns the file's scheme, if it is the one that
// was asked for.
//
// It is made of the file's m and k, not computed anew from n and p, so that the
// file can be read should New ever find better ones.
func readScheme(file io.ReaderAt, want *bloom.Scheme, opts []bloom.Option) (bloom.Scheme, error) {
	page := make([]byte, headerSize)
	n, err := file.ReadAt(page, 0)
	if err != nil && err != io.EOF {
		return bloom.Scheme{}, err
	}
	h, err := decodeHeader(page[:n])
	if err != nil {
		return bloom.Scheme{}, err
	}
	if h.bigEndian != nativeBigEndian {
		return bloom.Scheme{}, fmt.Errorf("its words are %s, this machine is %s: %w", orderName(h.bigEndian), orderName(nativeBigEndian), errors.ErrUnsupported)
	}
	if want != nil {
		if p := want.Params(); p.N != h.params.N || p.P != h.params.P {
			return bloom.Scheme{}, fmt.Errorf("%w: the file is for n = %d and p = %v, want n = %d and p = %v", bloom.ErrIncompatible, h.params.N, h.params.P, p.N, p.P)
		}
	}
	scheme, err := bloom.NewSchemeWithParams(h.params, opts...)
	if err != nil {
		return bloom.Scheme{}, err
	}
	if err := portable(opts); err != nil {
		return bloom.Scheme{}, err
	}
	if got := scheme.Identity(); got != h.identity {
		return bloom.Scheme{}, fmt.Errorf("%w: the file has %s, want %s", bloom.ErrIncompatible, h.identity, got)
	}
	return scheme, nil
}

func orderName(bigEndian bool) string {
	if bigEndian {
		return "big-endian"
	}
	return "little-endian"
}

// fileSize returns the length of the file, which fits an int.
func fileSize(s bloom.Scheme) (int64, error) {
	if s.SizeBytes() > math.MaxInt-headerSize {
		return 0, fmt.Errorf("%w: m = %d bits are %d bytes, this machine can map at most %d", bloom.ErrTooLarge, s.Params().M, s.SizeBytes(), math.MaxInt-headerSize)
	}
	return headerSize + int64(s.SizeBytes()), nil
}

// newMapping maps the file and lays the filter over it.
func newMapping(file *os.File, size int, scheme bloom.Scheme, readOnly bool) (*mapping, error) {
	data, err := mapFile(file, size, readOnly)
	if err != nil {
		return nil, err
	}
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&data[headerSize])), (size-headerSize)/8)
	filter, err := scheme.FilterOver(words)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", bloom.ErrCorrupt, err), unmapFile(data))
	}
	m := &mapping{filter: filter, data: data, readOnly: readOnly}
	// Nobody could be told of an error, and there is none for a mapping that exists.
	runtime.AddCleanup(m, func(data []byte) { _ = unmapFile(data) }, data)
	return m, nil
}

// errMade means that another process has made the file.
var errMade = errors.New("the file was made meanwhile")

// create makes a file with an empty filter. The error is errMade if there is a file
// of that name.
func create(files fileSystem, path string, scheme bloom.Scheme) (err error) {
	size, err := fileSize(scheme)
	if err != nil {
		return err
	}
	file, err := files.create(path)
	if err != nil {
		return err
	}
	// The one that held the lock before may have made the file.
	if file.replaces() != nil {
		if err := files.discard(file); err != nil {
			return err
		}
		return errMade
	}
	h := header{params: scheme.Params(), bigEndian: nativeBigEndian, identity: scheme.Identity()}
	_, err = file.Write(h.encode())
	if err == nil {
		err = file.allocate(headerSize, size-headerSize)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = files.publish(file, path)
	}
	if err != nil {
		discarded := files.discard(file)
		if errors.Is(err, fs.ErrExist) && discarded == nil {
			return errMade // by a program that knows of no lock
		}
		return errors.Join(err, discarded)
	}
	return files.syncDir(filepath.Dir(path))
}
