package format

import (
	"io"
	"io/fs"
	"math"
)

// Remaining returns the number of bytes left in r, or 0 if it is unknown. It is known if r has a method Len() int, as a
// bytes.Reader has, or is a regular file.
func Remaining(r io.Reader) uint64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return uint64(max(r.Len(), 0))
	case *io.LimitedReader:
		return min(uint64(max(r.N, 0)), Remaining(r.R))
	case interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	}:
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

// AsLen converts n to the result of a method Len, at most the largest int.
func AsLen(n uint64) int { return int(min(n, math.MaxInt)) }
