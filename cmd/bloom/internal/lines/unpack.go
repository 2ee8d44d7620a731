package lines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/seed3447c163/bloom/internal/failure"
)

// Until returns a reader of r that fails when ctx ends, with its cause.
func Until(ctx context.Context, r io.Reader) io.Reader { return source{ctx, r} }

type source struct {
	ctx context.Context
	r   io.Reader
}

// Read leaves a pending read behind when the context ends: its caller must not use p then.
func (s source) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := s.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
}

// Named adds the name of a file to an error without it.
func Named(name string, err error) error {
	if _, named := errors.AsType[*fs.PathError](err); err == nil || named {
		return err
	}
	if name == "-" {
		name = "standard input"
	}
	return At(name, err)
}

// At adds to an error where it happened. The text leaves out the library's name, which is the program's.
func At(where string, err error) error { return &located{where, err} }

type located struct {
	where string
	err   error
}

func (l *located) Error() string { return l.where + ": " + failure.Text(l.err) }
func (l *located) Unwrap() error { return l.err }

// packers are recognised by the first bytes of their files. Without open, the input is refused.
var packers = []struct {
	name, magic, tool string
	open              func(r io.Reader) (io.ReadCloser, error)
}{
	{"gzip", "\x1f\x8b", "", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", "", openZstd},
	{"pzstd", "P*M\x18", "", openZstd}, // begins with a frame to be skipped
	{"xz", "\xfd7zXZ\x00", "xz -dc", nil},
	{"bzip2", "BZh?1AY&SY", "bzip2 -dc", nil},
	{"lz4", "\x04\x22\x4d\x18", "lz4 -dc", nil},
	{"zip", "PK\x03\x04", "unzip -p", nil},
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r)
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// unpack returns the contents of r. It peeks at no more bytes than it needs to tell: a short line
// from a terminal or a pipe is read at once.
func unpack(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, chunkSize)
	for _, p := range packers {
		same := true
		for n := 0; same && n < len(p.magic); n++ {
			head, _ := b.Peek(n + 1)
			same = len(head) > n && (head[n] == p.magic[n] || p.magic[n] == '?')
		}
		if same && p.open == nil {
			return nil, fmt.Errorf("packed by %s, want text, gzip or zstd: unpack it with %s and a pipe", p.name, p.tool)
		} else if same {
			return p.open(b)
		}
	}
	return io.NopCloser(b), nil
}
