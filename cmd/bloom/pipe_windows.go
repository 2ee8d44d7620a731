package main

import (
	"os"

	"golang.org/x/sys/windows"
)

func pieceSize() int { return 64 << 10 }

// On Unix, settle sends the signal mark to this process. Windows has no such signal, so mark is nil and settle does
// nothing.
var mark os.Signal

func (*env) settle() {}

// hasRoom always returns true, because Windows does not tell whether a write to a pipe would block.
func hasRoom(int32) bool { return true }

// isTerminal reports whether p is a console that supports escape sequences. It enables them.
func (p *pipe) isTerminal() bool {
	var mode uint32
	console := windows.Handle(p.file.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
