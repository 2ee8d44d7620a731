package bloom

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
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

// TestLastWordIsSetLast: an add of Blocked sets the last word with an unset bit last, in assembly and in Go, however the
// bits follow each other, so that both find one winner together. The second half of the block cannot be written: an add
// ends there.
func TestLastWordIsSetLast(t *testing.T) {
	if testkit.RaceDetector || runtime.GOARCH != "amd64" {
		t.Skip("NOT TESTED: a fault in the race detector, or in atomics that take a lock, ends the program")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	size := os.Getpagesize()
	memory := must(syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	block := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&memory[size-blockBits/16])), blockWords)
	protect := func(how int) { require.NoError(t, syscall.Mprotect(memory[size:], how)) }
	for k := 4; k <= maxK; k += 2 {
		s := must(NewSchemeWithParams(Params{M: blockBits, K: k}, WithStrategy(Blocked)))
		for name, add := range map[string]func(f *BloomFilter, key []byte){
			"Add":       func(f *BloomFilter, key []byte) { f.Add(key) },
			"AddDigest": func(f *BloomFilter, key []byte) { f.AddDigest(f.Digest(key)) },
			"AddMany":   func(f *BloomFilter, key []byte) { f.AddMany([][]byte{key}, nil) },
		} {
			for code, f := range map[string]*BloomFilter{"assembly, if there is any": must(s.FilterOver(block)), "Go": inGo(must(s.FilterOver(block)))} {
				for i := range uint64(5) {
					key := key40(new([40]byte), i)
					first, last := twoWords(t, s, key)
					protect(syscall.PROT_READ | syscall.PROT_WRITE)
					for j := range block {
						block[j].Store(math.MaxUint64)
					}
					for _, pos := range []uint64{first, last} {
						block[pos/64].And(^(uint64(1) << (pos % 64)))
					}
					protect(syscall.PROT_READ)
					require.Panics(t, func() { add(f, key) }, "the last word is not written")
					require.EqualValues(t, 1, bitArray(block).at(first), "k = %d, %s, %s: the bit in the first half is not set yet", k, name, code)
				}
			}
		}
	}
}

// twoWords returns a key's position in the first half of its block, and one in the last word that the key uses. The
// strategy finds the first one later.
func twoWords(t *testing.T, s Scheme, key []byte) (first, last uint64) {
	positions := s.AppendPositions(nil, key)
	for i, last := range positions {
		for j, first := range positions[i:] {
			if first < blockBits/2 && last/64 == slices.Max(positions)/64 && !slices.Contains(positions[i+j:], last) {
				return first, last
			}
		}
	}
	require.Fail(t, "no such positions", "k = %d: %d", s.Params().K, positions)
	return 0, 0
}
