// Package remaining knows how many bytes a reader still has, where that can be known
// without reading them: then memory for them can be asked for at once.
package remaining

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// A Reader is one that knows it of itself, because it reads from one of those that [Of]
// knows.
type Reader interface {
	io.Reader
	Remaining() uint64
}

// Of returns how many bytes r still has, or 0 if that is not known.
func Of(r io.Reader) uint64 {
	switch r := r.(type) {
	case Reader:
		return r.Remaining()
	case *bytes.Reader:
		return uint64(r.Len())
	case *bytes.Buffer:
		return uint64(r.Len())
	case *strings.Reader:
		return uint64(r.Len())
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
