package main

import (
	"os"

	"golang.org/x/sys/windows"
)

func pieceSize() int { return 64 << 10 }

// mark is no signal, and settle does not wait, because Windows has no signal that a process can send to itself.
var mark os.Signal

func (*env) settle() {}

// hasRoom always returns true: Windows does not tell whether a pipe has room.
func hasRoom(int32) bool { return true }

// isTerminal reports whether p is a console that understands the escape sequence erase.
func (p *pipe) isTerminal() bool {
	var mode uint32
	console := windows.Handle(p.file.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
