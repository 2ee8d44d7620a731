//go:build !purego && !race

package vector

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
	"golang.org/x/sys/cpu"
)

// Why vectors may be used next to locked instructions
//
// A lookup, and the look of an add before it sets anything, loads words as vectors while other
// goroutines set bits in them by locked instructions. Go's memory model knows no such load, so this
// is an argument about x86. The race detector, which knows Go's model only, gets the Go kernels.
//
// The kernels of Double, for one key and for batches, load single aligned words, like the Go kernels, and the argument
// holds for them from step 2 on. Vectors there hold digests and positions, which no other goroutine knows.
//
//  1. A vector is not loaded as a whole, but each of its aligned 8 bytes is: Intel's manual (volume 3,
//     "Guaranteed atomic operations") and AMD's (volume 2, "Access atomicity") say so of aligned
//     quadwords. A vector of a block never crosses a cache line, see For. So a vector is some words,
//     each of which a store has left there, in no particular order: the same as atomic loads. Every
//     argument about the Go kernels takes the loads in any order.
//  2. Bits are only ever set, except by Clear and Intersect, which say what they do to concurrent
//     calls. So each word of a key whose add has returned has the key's bits whenever it is loaded
//     from then on.
//  3. "From then on" is what x86's total store order gives: loads, of vectors or of words, are not
//     moved before earlier loads or locked instructions, and every processor sees a locked instruction
//     before the next instruction runs. A goroutine that learns of an add's end, in any way that Go's
//     memory model knows, has loaded something that was stored after the add's last locked
//     instruction. The compiler moves nothing across a call of assembly.
//
// Adds to SplitBlock and Blocked8 set two words at once by CMPXCHG16B, which halves the locked
// instructions. The proof of the one winner in package bloom holds for units of any size. It also
// holds for adds with different units in the same words, for example if a second process without AVX2
// maps the file: all code has the units in the order of the words, the flip of the last unit with an
// unset bit completes the key, and every add that sees the last unset bit keeps its unit for the end.

// Built reports whether this build has kernels. Without them, the compiler leaves out the ways to them.
const Built = true

var (
	// Has reports whether there are kernels for this processor.
	Has = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT && cpu.X86.HasCX16

	// Has512 reports whether there are also murmurEights and the kernels of doubleEights. AVX-512 made the block
	// layouts at most 6 % faster, and the code after them slower. VBMI2 leaves out processors with a lower
	// clock for AVX-512.
	Has512 = Has && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2
)

func rows() *[hashes][layouts]Row

// Contains looks up a key of n bytes, at most 112.
//
//go:noescape
func Contains(b *Bits, key unsafe.Pointer, n int, r *Row) bool

// Add adds a key of n bytes, at most 112, and reports whether this call completed it.
//
//go:noescape
func Add(b *Bits, key unsafe.Pointer, n int, r *Row) bool

// ContainsDigest looks up a digest by a row of Digest, or the key with the sum h1 by a row of Sum64.
//
//go:noescape
func ContainsDigest(b *Bits, h1, h2 uint64, r *Row) bool

// AddDigest adds a digest by a row of Digest, or the key with the sum h1 by a row of Sum64.
//
//go:noescape
func AddDigest(b *Bits, h1, h2 uint64, r *Row) bool

//go:noescape
func many(b *Bits, keys unsafe.Pointer, size uintptr, n int, answers *bool, kernel uintptr) (done, count int)

// Constants of double_amd64.s: probe.Xor; which quadwords of eight digests are their first and second halves; and the
// factors of h1 and y in x_i, for each i.
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

// rapidMany hashes n keys, at least one, which begin size bytes after each other, from the state of b. It stops before
// a key of more than 112 bytes, and returns how many it has hashed. So does murmurMany.
//
//go:noescape
func rapidMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)

//go:noescape
func murmurMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)

// murmurEights hashes 8·eights keys, which begin size bytes after each other, by Murmur3 from a state, and
// returns how many eights it has hashed. It stops before eight keys one of which has more than 64 kB.
//
//go:noescape
func murmurEights(state uint64, keys unsafe.Pointer, size uintptr, eights int, digests *[2]uint64) (done int)

// CopyLines copies lines of 64 bytes. Others may set bits in either meanwhile: each word is loaded and
// stored as a whole, and a bit that is set in a line that is written may be lost.
//
// The runtime can stop a goroutine where it calls this function, but not in the assembly: until the
// end of a call, the garbage collector and with it all goroutines may wait. So CopyLines panics for
// more than MostLines. Inlined, it would only be the assembly.
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
