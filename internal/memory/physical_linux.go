package memory

import "syscall"

// Physical returns the bytes of memory that the machine has. Asking for more is
// answered by the runtime with a fatal error or by the kernel with a killed process,
// neither of which a caller could handle.
func Physical() (total uint64, ok bool) {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0, false
	}
	return uint64(info.Totalram) * uint64(info.Unit), true
}
