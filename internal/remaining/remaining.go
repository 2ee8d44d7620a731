// Package remaining returns how many bytes a reader still has, so that memory for them can be allocated at
// once.
package remaining

import (
	"io"
	"io/fs"
	"math"
)

// Of returns how many bytes r still has, or 0 if it is unknown. A reader tells by a method Len() int, as
// bytes.Reader does, or by Stat and Seek, as a regular file does.
func Of(r io.Reader) uint64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return uint64(max(r.Len(), 0))
	case *io.LimitedReader:
		return min(uint64(max(r.N, 0)), Of(r.R))
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

// Len returns n as the result of a method Len: at most the largest int.
func Len(n uint64) int { return int(min(n, math.MaxInt)) }
