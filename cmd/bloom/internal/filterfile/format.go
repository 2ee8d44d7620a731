package filterfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"github.com/seed3447c163/bloom"
)

// A Format is a file format for filters.
type Format struct {
	Name, About string

	// is reports whether head begins a file of the format. size is the file's size in bytes, -1 if unknown.
	is   func(head []byte, size int64) bool
	read func(in *input, opts []bloom.Option) (any, error)

	// header returns the part of head that begins with the first filter's header, which has the names of strategy and
	// hash. It is nil for formats of other systems.
	header func(head []byte) []byte

	write  func(w io.Writer, f *bloom.BloomFilter) error // nil if a plain filter cannot be written
	itself func(f any) (w io.WriterTo, ok bool)          // returns f if its WriteTo writes this format; may be nil

	// Create makes the empty filter that programs of the format would make. It is nil if bloom.New makes this filter.
	Create func(n uint64, p float64, opts []bloom.Option) (Filter, error)

	// The strategies of the format, and a function that finds its hashes by name. Files of this library may name them,
	// too.
	strategies []bloom.Strategy
	hash       func(name string) (*bloom.Hash, bool)
}

// A Filter has the methods that all filters share.
type Filter interface {
	ContainsMany(keys [][]byte, found []bool) int
	Stats() bloom.Stats
}

// A File is a file that may hold a filter.
type File struct {
	io.Reader
	Size    int64    // -1 if unknown
	Whole   *os.File // the file that Reader reads, nil if Size is unknown
	Path    string   // "-" for standard input
	Column  string   // of a Parquet file, "" for the only one
	Options []bloom.Option

	// Secret returns the option for the secret, or none. needed reports whether the filter has one.
	Secret func(needed bool) ([]bloom.Option, error)
}

// An input is a File that is read through a buffer.
type input struct {
	*bufio.Reader
	file *File
}

// Len returns the number of bytes that are left, so that the library allocates a filter at once. It is 0 if unknown, as
// for a pipe.
func (in *input) Len() int {
	if in.file.Whole == nil {
		return 0
	}
	at, err := in.file.Whole.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return int(min(max(0, in.file.Size-at)+int64(in.Buffered()), math.MaxInt-4096))
}

// reading turns a function such as bloom.Read into the value of a Format's field named read. The result also checks
// that nothing follows the filter.
func reading[F any](read func(io.Reader, ...bloom.Option) (F, error)) func(*input, []bloom.Option) (any, error) {
	return func(in *input, opts []bloom.Option) (any, error) {
		f, err := read(in, opts...)
		if err != nil {
			return nil, err
		}
		if _, err := in.ReadByte(); err != io.EOF {
			return nil, errors.New("more bytes after the filter's end, want none")
		}
		return f, nil
	}
}

// creating turns a function that returns an F, such as scalable.New, into a function that returns a Filter.
func creating[F Filter](create func(uint64, float64, ...bloom.Option) (F, error)) func(uint64, float64, []bloom.Option) (Filter, error) {
	return func(n uint64, p float64, opts []bloom.Option) (Filter, error) { return create(n, p, opts...) }
}

// writesItself returns f as an io.WriterTo if its type is F. It is the value of a Format's field named itself.
func writesItself[F io.WriterTo](f any) (io.WriterTo, bool) {
	self, ok := f.(F)
	return self, ok
}

// beginsWith recognises files by their first bytes.
func beginsWith(magics ...string) func([]byte, int64) bool {
	return func(head []byte, _ int64) bool {
		return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}
}
