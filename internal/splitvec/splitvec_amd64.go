//go:build !purego && !race

package splitvec

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Why vectors may be used beside locked instructions
//
// A lookup, and the look of an add before it sets anything, load a block as one vector of
// 32 bytes while other goroutines set bits in it by locked instructions. Go's memory
// model knows no such load, so this is an argument about x86, and the race detector,
// which knows Go's model alone, is given the kernels in Go.
//
//   - A vector of 32 bytes is not loaded as a whole. But each of its aligned 8 bytes is:
//     Intel's manual (volume 3, "Guaranteed atomic operations") and AMD's (volume 2,
//     "Access atomicity") say so of aligned quadwords, and a block never lies across two
//     cache lines, see For. So the vector is four words, each of which some
//     store has left there, in no particular order: just what four atomic loads are.
//     Every argument about the kernels in Go takes the loads in any order.
//   - Bits are only ever set (but for Clear and Intersect, which say what they do to adds
//     and lookups meanwhile). So of a key whose add has returned, each word has its bits
//     in whatever moment it is loaded from then on.
//   - "From then on" is what TSO gives: loads are not moved before earlier loads or
//     locked instructions, whether they are of vectors or of words, and a locked
//     instruction is seen by all processors before the next instruction. A goroutine
//     that learns of an add's end, by whatever means Go's memory model knows, has loaded
//     something that was stored after the add's last locked instruction. The compiler
//     moves nothing across a call of assembly.
//
// An add sets its bits by CMPXCHG16B, two words at once, so that it needs two locked
// instructions and not four. The proof in strategy.go of package bloom holds for units of any size, and
// for adds of different units in the same words, as when a second process without AVX2
// maps the file: the flip of the last unit that lacks a bit is the moment in which the key
// becomes complete, and all who see the last lacking bit keep the unit that it is in for
// the end.

// AVX-512 makes a lookup 6 % faster, as its further registers need no VZEROUPPER, but
// then all that follows runs 2 to 10 % slower, the hash of the next key among it.
//
// Package simd/archsimd, with which there would be no call and no assembly, needs
// GOEXPERIMENT=simd of whoever builds the program. As seen on 2026-11-22, Go 1.26.8 loads a
// shift's count by a legacy SSE instruction between the AVX ones, which costs some 240 ns a
// lookup here: it is worth another look when it is no experiment any more, with counts in vectors.
//
// Has reports whether there are kernels here, for bytes that nobody writes to at any address.
var Has = cpu.X86.HasAVX2 && cpu.X86.HasBMI2 && cpu.X86.HasCX16

// Contains reports whether all bits of a key are set.
//
//go:noescape
func Contains(words unsafe.Pointer, blocks, h1 uint64) bool

// ContainsRapid is Contains of the RapidHash of a key of 17 to 48 bytes, from that hash's state.
// One function takes an eighth less time than two, and the digest need not go through memory.
//
//go:noescape
func ContainsRapid(words unsafe.Pointer, blocks, state uint64, key unsafe.Pointer, n int) bool

// Add sets the bits of a key, and reports whether this call has completed them.
//
//go:noescape
func Add(words unsafe.Pointer, blocks, h1 uint64) bool

// ContainsMany is Contains for n digests of 16 bytes, h1 first; n is at least 1. It writes as
// many answers, and returns how many of them are true.
//
//go:noescape
func ContainsMany(words unsafe.Pointer, blocks uint64, digests unsafe.Pointer, n int, yes *bool) int

// CopyLines copies so many lines of 64 bytes. Others may set bits in either meanwhile: each word is
// loaded and stored as a whole, and a bit that is set in a line that is written may be lost.
//
// The runtime can stop a goroutine where it calls this function, but not in the assembly: until the
// end of a call, the garbage collector and with it all goroutines may wait. Inlined, it would only
// be the assembly.
//
//go:noinline
func CopyLines(to, from unsafe.Pointer, lines int) { copyLines(to, from, lines) }

//go:noescape
func copyLines(to, from unsafe.Pointer, lines int)
