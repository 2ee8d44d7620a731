package lines

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
)

// Until returns a reader of r that fails with the cause when ctx ends. It adds the number of bytes that it reads to the
// counter read, unless read is nil.
func Until(ctx context.Context, r io.Reader, read *atomic.Int64) io.Reader {
	return source{ctx, r, read}
}

type source struct {
	ctx  context.Context
	r    io.Reader
	read *atomic.Int64
}

// When the context ends, Read returns at once. A read of r that still waits may write to p later, so the caller must
// not use p again.
func (s source) Read(p []byte) (int, error) {
	n, err := Await(s.ctx, func() (int, error) { return s.r.Read(p) })
	if s.read != nil {
		s.read.Add(int64(n))
	}
	return n, err
}

// Open opens a file, and refuses a folder. It returns when ctx ends, because opening a named pipe waits for its writer.
func Open(ctx context.Context, name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, Named(name, errors.New("a folder, want a file"))
	}
	return Await(ctx, func() (*os.File, error) { return os.Open(name) })
}

// IsPipe reports whether r is a pipe or a socket.
func IsPipe(r io.Reader) bool {
	file, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// Await returns the result of call. If ctx ends first, it returns the cause at once, while call goes on in its
// goroutine.
func Await[T any](ctx context.Context, call func() (T, error)) (value T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		value, err := call()
		done <- func() (T, error) { return value, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// Named adds the name of a file to an error that does not have it.
func Named(name string, err error) error {
	if inPath := (*fs.PathError)(nil); err == nil || errors.As(err, &inPath) {
		return err
	}
	return At(display(name), err)
}

// display returns the name of an input for messages.
func display(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// At puts a place, such as a file or a line, before the text of an error.
func At(where string, err error) error { return &located{where, err} }

type located struct {
	where string
	err   error
}

func (l *located) Error() string { return l.where + ": " + Text(l.err) }
func (l *located) Unwrap() error { return l.err }

// Text returns the text of an error without the prefix "bloom: ". The program adds its own.
func Text(err error) string {
	if e, ok := err.(interface{ Text() string }); ok {
		return e.Text()
	}
	return strings.TrimPrefix(err.Error(), "bloom: ")
}
