package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate returns words of zeros that lie on pages of the wanted size, all of
// them there: the first touch of a page is not what is measured.
func allocate(words int, huge bool) ([]uint64, func([]uint64), error) {
	data, err := unix.Mmap(-1, 0, words*8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	if err := unix.Madvise(data, advice); err != nil {
		_ = unix.Munmap(data) // the error that is returned says enough
		return nil, nil, errNoPages
	}
	for i := 0; i < len(data); i += 4096 {
		data[i] = 0
	}
	release := func([]uint64) { _ = unix.Munmap(data) }
	return unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), words), release, nil
}
