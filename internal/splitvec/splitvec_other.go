//go:build !amd64 || purego || race

package splitvec

import "unsafe"

const (
	Has  = false
	none = "splitvec: there are no vectors"
)

func Contains(unsafe.Pointer, uint64, uint64) bool { panic(none) }

func ContainsRapid(unsafe.Pointer, uint64, uint64, unsafe.Pointer, int) bool { panic(none) }

func Add(unsafe.Pointer, uint64, uint64) bool { panic(none) }

func ContainsMany(unsafe.Pointer, uint64, unsafe.Pointer, int, *bool) int { panic(none) }

func CopyLines(unsafe.Pointer, unsafe.Pointer, int) { panic(none) }
