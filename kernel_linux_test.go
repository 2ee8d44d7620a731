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
	"github.com/seed3447c163/bloom/internal/vector"
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
	last := func() {}
	if *testkit.Long {
		last = runtime.GC // looks through a stack as its move does, and takes long
	}
	eachRow(t, 4096, func(t *testing.T, s *Scheme) {
		f := s.over(makeWords(wordsFor(s.params.M)))
		f.bits = unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&gone[0])), len(f.bits))
		for name, op := range map[string]func(){
			"Add": func() { f.Add(key) }, "Contains": func() { f.Contains(key) }, "AddMany": func() { f.AddMany([][]byte{key}, nil) },
			"ContainsDigests": func() { f.ContainsDigests([][2]uint64{{1, 2}}, nil) },
		} {
			var fault any
			var group testkit.Group
			group.Go(func() { // a new goroutine has a small stack
				debug.SetPanicOnFault(true)
				defer func() {
					deep(100, last)
					fault = recover()
				}()
				op()
			})
			group.Wait()
			require.Implements(t, (*runtime.Error)(nil), fault, name)
		}
	})
}

// TestLastWordIsSetLast: an add of Blocked sets the last word with an unset bit last, in assembly and in Go, however
// the bits follow each other, so that both find one winner together. The second half of the block cannot be written: an
// add ends there. It may end at a later word, which has no unset bit, but not at the last one with an unset bit before
// the bit in the first half is set.
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
	early := 0
	for k := 4; k <= maxK; k += 2 {
		s := must(NewSchemeWithParams(Params{M: blockBits, K: k}, WithStrategy(Blocked)))
		for name, add := range map[string]func(f *BloomFilter, key []byte){
			"Add":       func(f *BloomFilter, key []byte) { f.Add(key) },
			"AddDigest": func(f *BloomFilter, key []byte) { f.AddDigest(f.scheme.Digest(key)) },
			"AddMany":   func(f *BloomFilter, key []byte) { f.AddMany([][]byte{key}, nil) },
		} {
			for code, f := range map[string]*BloomFilter{"assembly, if there is any": must(s.FilterOver(block)), "Go": inGo(must(s.FilterOver(block)))} {
				for i := range uint64(5) {
					key := key40(new([40]byte), i)
					for _, pair := range twoWords(s, key) {
						first, last := pair[0], pair[1]
						protect(syscall.PROT_READ | syscall.PROT_WRITE)
						for j := range block {
							block[j].Store(math.MaxUint64)
						}
						for _, pos := range []uint64{first, last} {
							block[pos/64].And(^(uint64(1) << (pos % 64)))
						}
						protect(syscall.PROT_READ)
						at := faultIn(func() { add(f, key) })
						require.NotZero(t, at, "k = %d, %s, %s: the last word is not written", k, name, code)
						rare := last/64 != slices.Max(s.AppendPositions(nil, key))/64
						// A kernel may write two words at once.
						if rare && at/16 != uintptr(unsafe.Pointer(&block[last/64]))/16 {
							early++
							continue
						}
						require.EqualValues(t, 1, bitArray(block).at(first), "k = %d, %s, %s: the bit in the first half is not set yet", k, name, code)
					}
				}
			}
		}
	}
	if vector.Has {
		require.NotZero(t, early, "adds that begin after the last word with an unset bit")
	}
}

// faultIn returns the address at which a function faults, or 0.
func faultIn(do func()) (at uintptr) {
	defer func() {
		if fault, ok := recover().(interface{ Addr() uintptr }); ok {
			at = fault.Addr()
		}
	}()
	do()
	return 0
}

// twoWords returns pairs of a key's positions, the first in the first half of its block and the last in the second: a
// pair whose last is in the last word that the key uses, and whose first the strategy finds later; and a pair whose
// last is in an earlier word, if there is one.
func twoWords(s *Scheme, key []byte) (pairs [][2]uint64) {
	positions := s.AppendPositions(nil, key)
	found := map[bool]bool{}
	for i, last := range positions {
		for j, first := range positions {
			early := last/64 != slices.Max(positions)/64
			if first < blockBits/2 && last >= blockBits/2 && !found[early] && (early || j > i && !slices.Contains(positions[j:], last)) {
				pairs, found[early] = append(pairs, [2]uint64{first, last}), true
			}
		}
	}
	return pairs
}
