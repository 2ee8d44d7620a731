package main

import (
	"context"
	"errors"
	"io"
	"os"
)

// A pipe is standard output or standard error if it is not a regular file. Its reader may stop reading, so each write
// waits for room, or until ctx ends.
type pipe struct {
	ctx  context.Context
	file *os.File
	fd   int32
}

// newOutput returns the writer for standard output or standard error.
func newOutput(ctx context.Context, file *os.File, fd int32) io.Writer {
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return file
	}
	return &pipe{ctx, file, fd}
}

// room waits until pieceSize bytes can be written without blocking. If ctx ends first, it returns the cause.
func (p *pipe) room() error {
	for !hasRoom(p.fd) {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
	}
	return nil
}

// Write writes text in pieces of pieceSize bytes. If ctx ends while it waits for room, the error says that the output
// is cut off.
func (p *pipe) Write(text []byte) (n int, err error) {
	for n < len(text) && err == nil {
		if err := p.room(); err != nil {
			e := exit{status: statusError}
			errors.As(err, &e)
			return n, exit{e.status, e.text + ", and the output is cut off"}
		}
		var written int
		written, err = p.file.Write(text[n:min(n+pieceSize(), len(text))])
		n += written
	}
	return n, err
}
