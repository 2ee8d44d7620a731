package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/regular"
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
// parameters, another strategy, hash, seed or key, or by a later version of this
// package; [bloom.ErrCorrupt] if the file is no mapped filter, not a whole one or no
// regular file; fs.ErrExist if path.unfinished is a link or no regular file;
// errors.ErrUnsupported if this machine cannot map files or the file's words have the
// other byte order; or else it is the operating system's.
func Open(path string, n uint64, p float64, opts ...bloom.Option) (*File, error) {
	want, err := bloom.NewScheme(n, p, opts...)
	if err != nil {
		return nil, failed("open", path, err)
	}
	page, err := encodeHeader(want)
	if err != nil {
		return nil, failed("open", path, err)
	}
	// Between two steps another process may make the file or remove it. Not often.
	for range 10 {
		var f *File
		f, err = open(path, os.O_RDWR, opts, &want)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if made := create(osFiles{}, path, page, want); made != nil && made != errMade {
			return nil, failed("create", path, made)
		}
	}
	return nil, err
}

// OpenExisting opens the filter in the file at path as the file's header describes it:
// n, p, strategy, hash and seed need not be known. Options say what the reader must
// know or wants, as in [bloom.Read]: a filter made with a secret key needs
// [bloom.WithKey], one with a strategy of your own [bloom.WithStrategy]; whatever is
// given must be what the file was made with.
//
// The error is as that of [Open], and wraps fs.ErrNotExist if there is no file.
func OpenExisting(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDWR, opts, nil)
}

// OpenReadOnly is [OpenExisting] to ask only, and needs no permission to write. Keys
// that other processes add are seen at once. The file is never written to, and methods
// that would add to it panic or return [ErrReadOnly].
func OpenReadOnly(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDONLY, opts, nil)
}

// open opens a file that is there. want is the scheme that the caller asked for, nil
// for the file's.
func open(path string, flag int, opts []bloom.Option, want *bloom.Scheme) (*File, error) {
	file, info, err := regular.Open(path, flag, bloom.ErrCorrupt)
	if err != nil {
		return nil, failed("open", path, err)
	}
	f := &File{path: path, file: file}
	m, err := f.open(info, flag == os.O_RDONLY, opts, want)
	if err != nil {
		return nil, failed("open", path, and(err, file.Close()))
	}
	f.mapping.Store(m)
	return f, nil
}

func (f *File) open(info fs.FileInfo, readOnly bool, opts []bloom.Option, want *bloom.Scheme) (*mapping, error) {
	page := make([]byte, headerSize)
	n, err := f.file.ReadAt(page, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if f.scheme, err = decodeHeader(page[:n], opts); err != nil {
		return nil, err
	}
	if want != nil {
		if err := f.isWanted(want, opts); err != nil {
			return nil, err
		}
	}
	size, err := fileSize(f.scheme)
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, fmt.Errorf("%w: %d bytes, want %d", bloom.ErrCorrupt, info.Size(), size)
	}
	if !readOnly {
		// A copy may have holes where the filter is empty.
		if err := fillHoles(f.file, info); err != nil {
			return nil, err
		}
	}
	return newMapping(f.file, int(size), f.scheme, readOnly)
}

// isWanted returns an error if the file is not for n and p, or not what the options make,
// also where decodeHeader has taken for granted what they do not say, such as a seed.
//
// m and k are the file's, not computed anew from n and p, so that the file can be opened
// should New ever find better ones.
func (f *File) isWanted(want *bloom.Scheme, opts []bloom.Option) error {
	got, p := f.scheme.Params(), want.Params()
	if got.N != p.N || got.P != p.P {
		return fmt.Errorf("%w: the file is for n = %d and p = %v, want n = %d and p = %v", bloom.ErrIncompatible, got.N, got.P, p.N, p.P)
	}
	same, err := bloom.NewSchemeWithParams(got, opts...)
	if err != nil {
		return err
	}
	if has, wants := f.scheme.Identity(), same.Identity(); has != wants {
		return fmt.Errorf("%w: the file has %s, want %s", bloom.ErrIncompatible, has, wants)
	}
	return nil
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
		why := strings.TrimPrefix(err.Error(), bloom.ErrInvalid.Error()+": ")
		return nil, errors.Join(fmt.Errorf("%w: %s", bloom.ErrCorrupt, why), unmapFile(data))
	}
	m := &mapping{filter: filter, data: data, readOnly: readOnly}
	// There is nobody to return an error to, and there is none for a mapping that exists.
	runtime.AddCleanup(m, func(data []byte) { _ = unmapFile(data) }, data)
	return m, nil
}

// errMade means that another process has made the file.
var errMade = errors.New("the file was made meanwhile")

// create makes a file with an empty filter, which begins with the header page. The error is errMade if there is a file
// of that name.
func create(files fileSystem, path string, page []byte, scheme bloom.Scheme) error {
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
	_, err = file.Write(page)
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
		return and(err, discarded)
	}
	return files.syncDir(folder(path))
}
