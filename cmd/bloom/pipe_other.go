//go:build !unix

package main

func pieceSize() int { return 64 << 10 }

// hasRoom returns true, because on these systems it is not known.
func hasRoom(int32) bool { return true }
