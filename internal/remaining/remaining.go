// Package remaining returns how many bytes a reader still has, so that memory for them can be allocated at
// once.
package remaining

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// A Reader reads from one of the readers that [Of] knows. Own restricts it to types of this module: a method of
// the same name elsewhere may mean anything.
type Reader interface {
	io.Reader
	Remaining(Own) uint64
}

// Own marks the method of a Reader.
type Own struct{}

// Of returns how many bytes r still has, or 0 if it is unknown.
func Of(r io.Reader) uint64 {
	switch r := r.(type) {
	case Reader:
		return r.Remaining(Own{})
	case *bytes.Reader:
		return uint64(r.Len())
	case *bytes.Buffer:
		return uint64(r.Len())
	case *strings.Reader:
		return uint64(r.Len())
	case *io.LimitedReader:
		return min(uint64(max(r.N, 0)), Of(r.R))
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil || at > info.Size() {
			return 0
		}
		return uint64(info.Size() - at)
	}
	return 0
}
