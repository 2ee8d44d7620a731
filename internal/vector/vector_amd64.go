//go:build !purego && !race

package vector

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
	"golang.org/x/sys/cpu"
)

// Why vectors may be used next to locked instructions
//
// Lookups, and the first passes of adds, load words as vectors while other goroutines set bits in them by locked
// instructions. Go's memory model has no such loads, so this is an argument about x86. The race detector checks Go's
// model, so with it, the Go kernels run.
//
// The kernels of Double load single aligned words, like the Go kernels, so the argument holds for them from step 2 on.
// Their vectors hold digests and positions: no other goroutine uses those.
//
//  1. A vector load is not atomic, but the load of each of its aligned quadwords is, see Intel's
//     manual (volume 3, "Guaranteed atomic operations") and AMD's (volume 2, "Access atomicity"). A
//     vector of a block never crosses a cache line, see For. So a vector load is the same as atomic
//     loads of its words in some order, and no argument about the Go kernels depends on that order.
//  2. Bits are only set, except by Clear and Intersect. Their documentation says what they do to
//     concurrent calls. So once the add of a key has returned, every later load of its words has the
//     key's bits.
//  3. "Later" is ensured by x86's total store order: loads of vectors or words are not moved before
//     earlier loads or locked instructions, and every processor sees a locked instruction before the
//     next instruction runs. A goroutine that learns of an add's end, in any way that Go's memory
//     model defines, has loaded a value that was stored after the add's last locked instruction. The
//     compiler moves nothing across a call of assembly.
//
// Adds with Split and Blocked8 set two words at once by CMPXCHG16B, with half as many locked instructions. The proof of
// one winner in package bloom holds for units of one or two words. It also holds if adds use different units, for
// example if another process without AVX2 maps the file: all code takes the units in the order of the words, writing
// the last unit with an unset bit completes the key, and every add that sees the last unset bit writes its unit last.

// Built reports whether this build has kernels. If not, the compiler drops the code that calls them.
const Built = true

var (
	// Has reports whether there are kernels for this processor.
	Has = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT && cpu.X86.HasCX16

	// Has512 reports whether murmurEights and the kernels of doubleEights can be used. For the other layouts, AVX-512
	// saved at most 6 %, and slowed the code after them. VBMI2 excludes processors that lower their clock for AVX-512.
	Has512 = Has && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2
)

func rows() *[hashes][layouts]Row

// DoKey looks up or adds a key of n bytes, at most 112. kernel is from Row.One of a row for keys.
//
//go:noescape
func DoKey(b *Bits, key unsafe.Pointer, n int, kernel uintptr) bool

// DoDigest looks up or adds a digest. kernel is from Row.One of a row for digests.
//
//go:noescape
func DoDigest(b *Bits, h1, h2 uint64, kernel uintptr) bool

//go:noescape
func many(b *Bits, keys unsafe.Pointer, size uintptr, n int, answers *bool, kernel uintptr) (done, count int)

// Constants of double_amd64.s: probe.Xor; the indices of the first and of the second halves of eight digests; and for
// each x_i of bloom.DoubleHashing, the factors of h1 and y.
var (
	xor    uint64 = probe.Xor                                                              //lint:ignore U1000 the assembly reads it
	halves        = [2][8]uint64{{0, 2, 4, 6, 8, 10, 12, 14}, {1, 3, 5, 7, 9, 11, 13, 15}} //lint:ignore U1000 the assembly reads it

	//lint:ignore U1000 the assembly reads it
	powers = func() (t [64][2]uint64) {
		t[0][0] = 1
		for i := range t[1:] {
			t[i+1] = [2]uint64{t[i][0] * probe.Mul, t[i][1]*probe.Mul + 1}
		}
		return t
	}()
)

//go:noescape
func doubleContains(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)

//go:noescape
func doubleAdd(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)

//go:noescape
func fillSplit(b *Bits, digests *[2]uint64, n int)

// rapidMany and murmurMany hash n keys, at least one, from the state of b. For keys and size, see Row.Many. They stop
// before a key of more than 112 bytes. They return the number of keys that they have hashed.
//
//go:noescape
func rapidMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)

//go:noescape
func murmurMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)

// murmurEights hashes 8·eights keys by Murmur3 from a state. For keys and size, see Row.Many. It stops before a group
// of eight with a key of more than 64 kB. It returns the number of groups that it has hashed.
//
//go:noescape
func murmurEights(state uint64, keys unsafe.Pointer, size uintptr, eights int, digests *[2]uint64) (done int)

// CopyLines copies lines of 64 bytes. Meanwhile other goroutines may set bits in both: words are loaded and stored
// atomically, but bits that are set in the lines at to may be lost.
//
// The garbage collector, and with it all goroutines, may have to wait for this goroutine. The runtime cannot stop it in
// the assembly, so CopyLines panics for more than MostLines lines. The runtime can stop it at a call of CopyLines, but
// only if CopyLines is not inlined.
//
//go:noinline
func CopyLines(to, from unsafe.Pointer, lines int) {
	if lines > MostLines {
		panic("vector: too many lines at once")
	}
	copyLines(to, from, lines)
}

//go:noescape
func copyLines(to, from unsafe.Pointer, lines int)
