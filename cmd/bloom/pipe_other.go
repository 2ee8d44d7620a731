//go:build !unix

package main

import "os"

func pieceSize() int { return 64 << 10 }

// mark is no signal, and settle does not wait, because these systems have no signal that a process can send to itself.
var mark os.Signal

func (*env) settle() {}

// hasRoom returns true, because on these systems it is not known.
func hasRoom(int32) bool { return true }
