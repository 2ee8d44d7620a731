package bloom

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func init() { page = guardedPage }

// guardedPage returns a page between two that nobody may touch.
func guardedPage(t testing.TB) []byte {
	size := os.Getpagesize()
	memory := must(syscall.Mmap(-1, 0, 3*size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	middle := memory[size : 2*size : 2*size]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	return middle
}

// TestKernelsFault: a program survives a fault in a mapped file if it asks for that, also with
// assembly on its stack, which the runtime then looks through and moves.
func TestKernelsFault(t *testing.T) {
	gone := guardedPage(t)
	require.NoError(t, syscall.Mprotect(gone, syscall.PROT_NONE))
	key := []byte("some key")
	eachRow(t, 4096, func(t *testing.T, s *scheme) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		f := s.filter(makeWords(wordsFor(s.params.M)))
		f.bits = unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&gone[0])), len(f.bits))
		for name, op := range map[string]func(){
			"Add": func() { f.Add(key) }, "Contains": func() { f.Contains(key) }, "AddMany": func() { f.AddMany([][]byte{key}, nil) },
			"ContainsDigests": func() { f.ContainsDigests([][2]uint64{{1, 2}}, nil) },
		} {
			var fault any
			func() {
				defer func() {
					runtime.GC()
					deep(100)
					fault = recover()
				}()
				op()
			}()
			require.Implements(t, (*runtime.Error)(nil), fault, name)
		}
	})
}
