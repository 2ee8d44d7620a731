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

// Open opens the filter in the file at path for n different keys with a false-positive rate
// of at most p, made as [bloom.New] makes it from the same arguments. It makes the file if
// there is none. A file that is there must have been made with the same arguments. Opening
// reads one page of the file, whatever its size.
//
// Any number of goroutines and processes can open the same path at the same time. Exactly
// one of them makes the file, and the others open that one. The file gets its name when it
// is complete and its space on the disk is reserved. Until then it is called
// path.unfinished; the next Open or Save removes the unfinished file of a killed process. Open
// follows a symbolic link to an existing file; it makes no file through a link.
//
// The error wraps
//   - [bloom.ErrInvalid] or [bloom.ErrTooLarge] where New's does;
//   - [bloom.ErrNotPortable] for [bloom.MapHash] or a strategy without a name, which another
//     process could not read;
//   - [bloom.ErrIncompatible] if the file was made with other parameters, another strategy,
//     hash, seed or key, or by a later version of this package;
//   - [bloom.ErrCorrupt] if the file is damaged, of another kind, or no regular file;
//   - errors.ErrUnsupported if this machine cannot map files, or the file's words have the
//     other byte order.
//
// Otherwise it is the operating system's error.
func Open(path string, n uint64, p float64, opts ...bloom.Option) (*File, error) {
	want, err := bloom.NewScheme(n, p, opts...)
	if err != nil {
		return nil, failed("open", path, err)
	}
	page, err := encodeHeader(want)
	if err != nil {
		return nil, failed("open", path, err)
	}
	// Another process may make the file or remove it between two steps.
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

// OpenExisting opens the filter in the file at path as the file's header describes it. The
// caller need not know n, p, strategy, hash or seed. As with [bloom.Read], a filter made with a
// secret key needs [bloom.WithKey], a custom strategy needs [bloom.WithStrategy], and every
// option that is given must match the file.
//
// The error is that of [Open], and wraps fs.ErrNotExist if there is no file.
func OpenExisting(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDWR, opts, nil)
}

// OpenReadOnly is [OpenExisting] for lookups only. It needs no permission to write and never
// writes to the file. Lookups see keys that other processes add at once. Methods that would add
// panic or return [ErrReadOnly].
//
// A sparse copy of a file in a tmpfs takes its memory when it is opened; if there is too little,
// OpenReadOnly returns an error.
func OpenReadOnly(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDONLY, opts, nil)
}

// open opens a file that is there. want is the scheme that the caller asked for; nil means the
// file's.
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
	data, err := mapFile(f.file, int(size), readOnly)
	if err != nil {
		return nil, err
	}
	if err := populate(f.file, info, data); err != nil {
		return nil, errors.Join(err, unmapFile(data))
	}
	return newMapping(data, f.scheme, readOnly)
}

// isWanted returns an error if the file is not for n and p, or not what the options make. It also
// checks what decodeHeader takes from the file if no option says it, such as a seed. m and k are
// the file's: New may find better ones in a later version.
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

// newMapping lays the filter over a file in memory.
func newMapping(data []byte, scheme bloom.Scheme, readOnly bool) (*mapping, error) {
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&data[headerSize])), (len(data)-headerSize)/8)
	filter, err := scheme.FilterOver(words)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), bloom.ErrInvalid.Error()+": ")
		return nil, errors.Join(fmt.Errorf("%w: %s", bloom.ErrCorrupt, why), unmapFile(data))
	}
	m := &mapping{filter: filter, data: data, readOnly: readOnly}
	// unmapFile has no error for a mapping that exists.
	runtime.AddCleanup(m, func(data []byte) { _ = unmapFile(data) }, data)
	return m, nil
}

// errMade means that another process has made the file.
var errMade = errors.New("another process has made the file")

// create makes a file that begins with the header page and has an empty filter. The error is
// errMade if there is a file of that name.
func create(files fileSystem, path string, page []byte, scheme bloom.Scheme) error {
	size, err := fileSize(scheme)
	if err != nil {
		return err
	}
	err = replaceFile(files, path, func(file tempFile) error {
		if file.replaces() != nil {
			return errMade
		}
		if _, err := file.Write(page); err != nil {
			return err
		}
		return file.allocate(headerSize, size-headerSize)
	})
	if errors.Is(err, errMade) || errors.Is(err, errOther) {
		return errMade
	}
	return err
}
