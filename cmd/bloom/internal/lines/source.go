package lines

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
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

// At adds to an error where it happened.
func At(where string, err error) error { return &located{where, err} }

type located struct {
	where string
	err   error
}

func (l *located) Error() string { return l.where + ": " + Text(l.err) }
func (l *located) Unwrap() error { return l.err }

// Text returns the text of an error without the library's name, which is the program's.
func Text(err error) string {
	if e, ok := err.(interface{ Text() string }); ok {
		return e.Text()
	}
	return strings.TrimPrefix(err.Error(), "bloom: ")
}
