//go:build !linux

// Package hugepage asks for larger pages of memory.
package hugepage

// Advise does nothing where there is no such call, or none that is known to pay.
func Advise([]byte) {}
