//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package memory

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// Physical returns the machine's memory in bytes.
func Physical() (total uint64, ok bool) {
	name := "hw.physmem"
	switch runtime.GOOS {
	case "darwin", "ios":
		name = "hw.memsize"
	case "netbsd":
		name = "hw.physmem64"
	}
	raw, err := unix.SysctlRaw(name)
	switch {
	case err != nil:
		return 0, false
	case len(raw) == 8:
		return binary.NativeEndian.Uint64(raw), true
	case len(raw) == 4: // a long, on systems of 32 bits
		return uint64(binary.NativeEndian.Uint32(raw)), true
	}
	return 0, false
}
