package tickets

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestCountLooksForLostTicketsFirst: a ticket that is taken and lost between the two looks would otherwise be
// subtracted twice. The numbers of a cell are on both sides of the end of a page. Neither page can be read, and the
// fault tells which number Count reads first.
func TestCountLooksForLostTicketsFirst(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED: a fault in the race detector ends the program")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	size := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	at := unsafe.Pointer(&memory[uintptr(size)-unsafe.Offsetof(Cell{}.lost)])
	b := Box{cells: unsafe.Slice((*Cell)(at), 1)}
	defer func() {
		fault, ok := recover().(interface{ Addr() uintptr })
		require.True(t, ok)
		require.Equal(t, uintptr(at)+unsafe.Offsetof(Cell{}.lost), fault.Addr())
	}()
	b.Count()
}
