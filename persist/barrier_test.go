package persist

import (
	"os"
	"sync/atomic"
	"unsafe"
)

// bloomWords maps the first word of a file, for good.
func bloomWords(path string) (*atomic.Uint64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	data, err := mapFile(f, 8, false)
	if err != nil {
		return nil, err
	}
	return (*atomic.Uint64)(unsafe.Pointer(&data[0])), f.Close()
}
