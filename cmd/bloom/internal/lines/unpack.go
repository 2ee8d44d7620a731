package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A kind describes files that are not text and begin with magic. A ? in magic stands for a digit from 1 to 9.
type kind struct {
	name, magic string
	advice      string                                   // how to turn it into lines
	open        func(b *bufio.Reader) (io.Reader, error) // unpacks it; nil if this program does not
}

const (
	gzipTool  = "unpack it with gzip -dc and a pipe"
	zstdTool  = "unpack it with zstd -dc and a pipe"
	utf8Tool  = "convert it with iconv -f UTF-16 -t UTF-8 and a pipe"
	wideTool  = "convert it with iconv -f UTF-32 -t UTF-8 and a pipe"
	tableTool = "write its column as text, as with duckdb -csv"
	zlibTool  = "unpack it with pigz -dc and a pipe"
	tarTool   = "unpack it with tar -xO and a pipe"
)

// kinds lists the kinds of files that unpack recognises by their first bytes. "x^" may also begin a zlib stream, but is
// not listed because text may begin with it.
var kinds = []kind{
	{"packed by gzip", "\x1f\x8b", gzipTool, openGzip},
	{"packed by zstd", "\x28\xb5\x2f\xfd", zstdTool, openZstd},
	{"packed by xz", "\xfd7zXZ\x00", "unpack it with xz -dc and a pipe", nil},
	{"packed by lzma", "]\x00\x00", "unpack it with xz -dc --format=lzma and a pipe", nil},
	{"packed by lzip", "LZIP\x01", "unpack it with lzip -dc and a pipe", nil},
	{"packed by bzip2", "BZh?1AY&SY", "unpack it with bzip2 -dc and a pipe", nil},
	{"packed by lz4", "\x04\x22\x4d\x18", "unpack it with lz4 -dc and a pipe", nil},
	{"packed by compress", "\x1f\x9d", gzipTool, nil},
	{"packed by zip", "PK\x03\x04", "unpack it with unzip -p and a pipe", nil},
	{"packed by 7-Zip", "7z\xbc\xaf\x27\x1c", "unpack it with 7z x -so and a pipe", nil},
	{"packed by zlib", "x\x01", zlibTool, nil},
	{"packed by zlib", "x\x9c", zlibTool, nil},
	{"packed by zlib", "x\xda", zlibTool, nil},
	{"packed by lz4 -l", "\x02!L\x18", "unpack it with lz4 -dc and a pipe", nil},
	{"packed by lzop", "\x89LZO", "unpack it with lzop -dc and a pipe", nil},
	{"packed by snappy", "\xff\x06\x00\x00sNaPpY", "unpack it with snzip -dc and a pipe", nil},
	{"packed by rar", "Rar!\x1a\x07", "unpack it with unrar p -inul and a pipe", nil},
	{"a Parquet file", "PAR1\x15", tableTool, nil}, // \x15 begins the first page's header, or a footer
	{"an Avro file", "Obj\x01", tableTool, nil},
	{"text in UTF-32", "\xff\xfe\x00\x00", wideTool, nil},
	{"text in UTF-32", "\x00\x00\xfe\xff", wideTool, nil},
	{"text in UTF-16", "\xff\xfe", utf8Tool, nil},
	{"text in UTF-16", "\xfe\xff", utf8Tool, nil},
	{"a filter", "\x89bl", "give the keys of which it was made", nil}, // the magic of all files of this library
}

func init() { // a file of zstd may begin with one of 16 skippable frames, as pzstd writes it
	for first := byte('P'); first <= '_'; first++ {
		kinds = append(kinds, kind{"packed by zstd", string(first) + "*M\x18", zstdTool, openZstd})
	}
}

// refused returns the error for an input that is not text.
func refused(name, advice string) error {
	return fmt.Errorf("%s, want text, gzip or zstd: %s", name, advice)
}

// kindOf returns the kind of a file, or nil. It does not wait for more bytes than it needs, so that a short line from a
// terminal or a pipe is read at once.
func kindOf(b *bufio.Reader) *kind {
	for i := range kinds {
		magic, same := kinds[i].magic, true
		for n := 0; same && n < len(magic); n++ {
			head, _ := b.Peek(n + 1)
			same = len(head) > n && (head[n] == magic[n] || magic[n] == '?' && head[n] >= '1' && head[n] <= '9')
		}
		if same {
			return &kinds[i]
		}
	}
	return nil
}

// unpack returns the text of r, unpacked, or an error if r is not text, gzip or zstd.
func unpack(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, chunkSize)
	k := kindOf(b)
	switch {
	case k == nil:
		return io.NopCloser(b), nil
	case k.open == nil:
		return nil, refused(k.name, k.advice)
	}
	text, err := k.open(b)
	if err != nil {
		return nil, err
	}
	closing := func() error { return nil }
	if c, ok := text.(io.Closer); ok {
		closing = c.Close
	}
	inner := bufio.NewReaderSize(text, 16) // enough for the magics; longer reads bypass the buffer
	if within := kindOf(inner); within != nil {
		closing()
		return nil, refused(k.name+", and in that "+within.name, strings.TrimSuffix(k.advice, " and a pipe")+", then "+within.advice)
	}
	return readCloser{inner, closing}, nil
}

type readCloser struct {
	io.Reader
	close func() error
}

func (r readCloser) Close() error { return r.close() }

// A gzipReader reads all gzip members of a file. Zeros may follow the last member, as on tapes.
type gzipReader struct {
	*gzip.Reader
	b *bufio.Reader
}

func openGzip(b *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipReader{z, b}, nil
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	if next, err := g.b.Peek(1); err == nil && next[0] == 0 {
		return n, g.padding()
	}
	if err = g.Reset(g.b); err == nil { // io.EOF at the end
		g.Multistream(false)
	}
	return n, err
}

// padding reads zeros up to the end and returns io.EOF. It returns another error for a byte that is not zero.
func (g *gzipReader) padding() error {
	for {
		if c, err := g.b.ReadByte(); err != nil {
			return err
		} else if c != 0 {
			return errors.New("bytes after the zeros that follow the packed text, want only zeros")
		}
	}
}

// A zstdReader adds the remedy to the error for a stream that needs too much memory.
type zstdReader struct{ io.ReadCloser }

func openZstd(b *bufio.Reader) (io.Reader, error) {
	z, err := zstd.NewReader(b)
	if err != nil {
		return nil, err
	}
	return zstdReader{z.IOReadCloser()}, nil
}

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("packed by zstd --long with a window over %d MiB: unpack it with zstd -dc --long=31 and a pipe", zstd.MaxWindowSize>>20)
	}
	return n, err
}
