//go:build !unix

package main

func pieceSize() int { return 64 << 10 }

// hasRoom returns true: these systems cannot tell.
func hasRoom(int32) bool { return true }
