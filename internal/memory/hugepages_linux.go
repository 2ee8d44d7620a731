package memory

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// collapse is Linux's MADV_COLLAPSE. Package syscall does not define it, and golang.org/x/sys/unix would add 90 kB to
// every program with a filter.
const collapse = 25

// HugePages asks the kernel once to move the words to huge pages. Words at the ends that do not fill a huge page stay
// where they are. It sets no lasting flag. Other goroutines may use the words meanwhile.
func HugePages(w []atomic.Uint64) error {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if err != nil {
		return fmt.Errorf("huge pages: %w by this Linux", errors.ErrUnsupported)
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || size <= 0 {
		return fmt.Errorf("huge pages: a size of %q, want a positive number", text)
	}
	b := BytesOfWords(w)
	first := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(size-1))
	if len(b) < first+size {
		return nil
	}
	b = b[first : first+(len(b)-first)/size*size]
	for i := 0; i < len(b); i += size {
		w[(first+i)/8].Load() // the kernel refuses a range without any page
	}
	err = syscall.EAGAIN
	for try := 0; err == syscall.EAGAIN && try < 4; try++ { // some pages were in use
		err = syscall.Madvise(b, collapse)
	}
	switch err {
	case nil, syscall.EAGAIN:
		return nil
	case syscall.EINVAL:
		return fmt.Errorf("huge pages: %w: want Linux 6.1 or later with huge pages, and a filter that is not a mapped file", err)
	}
	return fmt.Errorf("huge pages: %w: too little memory in whole pieces of %d bytes", err, size)
}
