package persist

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/persist/internal/regularfile"
)

// Open opens the filter in the file at path for n different keys with a false-positive rate of at
// most p, as [bloom.New] makes it from the same arguments. If there is no file, Open makes it;
// otherwise the file must have been made with the same arguments. Opening reads one page of the
// file, whatever its size.
//
// Any number of goroutines and processes can open the same path at the same time. Exactly one of them makes the file.
// The file gets its name when it is complete and its space on the disk is reserved. Open follows a symbolic link to an
// existing file but does not make a file through a link.
//
// The error wraps
//   - [bloom.ErrInvalid] or [bloom.ErrTooLarge] if bloom.New refuses the arguments;
//   - [bloom.ErrNotPortable] for [bloom.MapHash] or a strategy without a name: no other process
//     could read the filter;
//   - [bloom.ErrIncompatible] if the file is of another kind, or was made with other parameters,
//     another strategy, hash, seed or secret, or in another version of the format;
//   - [bloom.ErrCorrupt] if the file is damaged or not a regular file;
//   - errors.ErrUnsupported if this machine cannot map files, or the file's words have the
//     other byte order.
//
// Any other error is the operating system's.
func Open(path string, n uint64, p float64, opts ...bloom.Option) (*File, error) {
	want, err := bloom.NewScheme(n, p, opts...)
	if err == nil {
		err = want.Portable()
	}
	if err != nil {
		return nil, failed("open", path, err)
	}
	// Another process may make or remove the file between two steps.
	for range 10 {
		var f *File
		f, err = open(path, os.O_RDWR, opts, want)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if err := create(osFiles{}, path, want); err != nil && !errors.Is(err, fs.ErrExist) {
			// If there is a file, another process has made it, perhaps with the last disk space.
			if _, none := os.Stat(path); none != nil {
				return nil, failed("create", path, err)
			}
		}
	}
	return nil, err
}

// OpenExisting opens the filter in the file at path, with the parameters of the file. As with [bloom.Read], a filter
// made with a secret needs [bloom.WithSecret], a custom strategy needs [bloom.WithStrategy], and every given option
// must match the file.
//
// It returns the errors of [Open], and one that wraps fs.ErrNotExist if there is no file.
func OpenExisting(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDWR, opts, nil)
}

// OpenReadOnly is [OpenExisting] for lookups only. It needs no permission to write and never writes
// to the file. Lookups see a key as soon as another process has added it.
func OpenReadOnly(path string, opts ...bloom.Option) (*File, error) {
	return open(path, os.O_RDONLY, opts, nil)
}

// open opens an existing file. want is the scheme of Open's arguments; if it is nil, any scheme is accepted.
func open(path string, flag int, opts []bloom.Option, want *bloom.Scheme) (*File, error) {
	file, info, err := regularfile.Open(path, flag, bloom.ErrCorrupt)
	if err != nil {
		return nil, failed("open", path, err)
	}
	f := &File{path: path, file: file}
	m, err := f.open(info, flag == os.O_RDONLY, opts, want)
	if err != nil {
		file.Close()
		return nil, failed("open", path, err)
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
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d bytes, want %d", info.Size(), size)
	}
	data, err := mapFile(f.file, int(size), readOnly)
	if err != nil {
		return nil, err
	}
	m := &mapping{data: data, readOnly: readOnly}
	// unmapFile returns no error for a mapping that exists.
	runtime.AddCleanup(m, func(data []byte) { _ = unmapFile(data) }, data)
	if err := fillHoles(f.file, info, data, readOnly); err != nil {
		return nil, err
	}
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&data[headerSize])), (len(data)-headerSize)/8)
	if m.filter, err = f.scheme.FilterOver(words); err != nil {
		return nil, failure.As(bloom.ErrCorrupt, err)
	}
	return m, nil
}

// isWanted returns an error if the file has another n or p than want, or another strategy, hash or seed than opts. It
// ignores want's m and k: a later version of bloom.New may choose others for the same n and p.
func (f *File) isWanted(want *bloom.Scheme, opts []bloom.Option) error {
	got, p := f.scheme.Params(), want.Params()
	if got.N != p.N || got.P != p.P {
		return failure.Errorf(bloom.ErrIncompatible, "the file is for n = %d and p = %v, want n = %d and p = %v", got.N, got.P, p.N, p.P)
	}
	same, err := bloom.NewSchemeWithParams(got, opts...)
	if err != nil {
		return err
	}
	// decodeHeader accepts any seed if opts have none, but Open wants seed 0 then.
	if has, wants := f.scheme.String(), same.String(); has != wants {
		return failure.Errorf(bloom.ErrIncompatible, "the file has %s, want %s", has, wants)
	}
	return nil
}

// fileSize returns the length of the file, or an error if it does not fit in an int.
func fileSize(s *bloom.Scheme) (int64, error) {
	if s.SizeBytes() > math.MaxInt-headerSize {
		const most = math.MaxInt - headerSize
		return 0, failure.Errorf(bloom.ErrTooLarge, "m = %d are %d bytes, this machine can map at most %d",
			s.Params().M, s.SizeBytes(), most)
	}
	return headerSize + int64(s.SizeBytes()), nil
}

// create makes a file with an empty filter. The error wraps fs.ErrExist if there is a file.
func create(files fileSystem, path string, scheme *bloom.Scheme) error {
	page, err := encodeHeader(scheme)
	if err != nil {
		return err
	}
	size, err := fileSize(scheme)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil {
		return cmp.Or(regularfile.Check(path, info, bloom.ErrCorrupt), fs.ErrExist)
	}
	return makeFile(files, path, nil, func(file tempFile) error {
		if _, err := file.Write(page); err != nil {
			return err
		}
		if err := file.allocate(headerSize, size-headerSize); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		return files.publish(file, path, false)
	})
}
