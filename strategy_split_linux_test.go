package bloom

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestSplitKernelsAtTheEdgeOfAPage: nothing before the first block and nothing behind the
// last one is touched, as a page that nobody may touch is there.
func TestSplitKernelsAtTheEdgeOfAPage(t *testing.T) {
	page := os.Getpagesize()
	memory := must(syscall.Mmap(-1, 0, 3*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
	defer func() { _ = syscall.Munmap(memory) }()
	middle := memory[page : 2*page]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	all := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&middle[0])), page/8)
	for blocks := 1; blocks <= 8; blocks++ {
		for _, words := range [][]atomic.Uint64{all[:blocks*splitWordsOf], all[len(all)-blocks*splitWordsOf:]} {
			clear(middle)
			digests := []uint64{0, 1<<64 - 1}
			for i := range uint64(200) {
				digests = append(digests, mix(i))
			}
			splitKernelsAgree(t, words, digests)
		}
	}
	for n := range 60 {
		rapidAgrees(t, 1, middle[:n])
		rapidAgrees(t, 1, middle[page-n:])
	}
}
