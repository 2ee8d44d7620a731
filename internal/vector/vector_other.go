//go:build !amd64 || purego || race

package vector

import "unsafe"

const (
	Built  = false
	Has    = false
	Has512 = false

	none = "vector: there are no kernels in assembly"
)

func rows() *[hashes][layouts]Row { panic(none) }

func DoKey(*Bits, unsafe.Pointer, int, uintptr) bool { panic(none) }

func DoDigest(*Bits, uint64, uint64, uintptr) bool { panic(none) }

func many(*Bits, unsafe.Pointer, uintptr, int, *bool, uintptr) (int, int) { panic(none) }

func doubleContains(*Bits, unsafe.Pointer, int, *bool) int { panic(none) }

func doubleAdd(*Bits, unsafe.Pointer, int, *bool) int { panic(none) }

func fillSplit(*Bits, *[2]uint64, int) { panic(none) }

func rapidMany(*Bits, unsafe.Pointer, uintptr, int, *[2]uint64) int { panic(none) }

func murmurMany(*Bits, unsafe.Pointer, uintptr, int, *[2]uint64) int { panic(none) }

func murmurEights(uint64, unsafe.Pointer, uintptr, int, *[2]uint64) int { panic(none) }

func CopyLines(unsafe.Pointer, unsafe.Pointer, int) { panic(none) }
