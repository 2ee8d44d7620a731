package memory

import (
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
)

// Physical returns the machine's memory in bytes, or the limit of its container or of ulimit -v if it is lower. If a
// program allocates more, the runtime ends it with a fatal error or the kernel kills it; a caller can handle neither.
func Physical() (total uint64, ok bool) {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0, false
	}
	return min(uint64(info.Totalram)*uint64(info.Unit), container(), addressSpace()), true
}

// container returns the memory limit of the process's control groups. It reads them once.
var container = sync.OnceValue(func() uint64 { return smallest("/sys/fs/cgroup", contents("/proc/self/cgroup")) })

// addressSpace returns the part of ulimit -v that is not yet in use, at least 64 MiB. This is computed once, before the
// first large array.
var addressSpace = sync.OnceValue(func() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur == math.MaxUint64 {
		return math.MaxUint64
	}
	pages, _ := number(contents("/proc/self/statm"))
	return max(64<<20, limit.Cur-min(limit.Cur, pages*uint64(os.Getpagesize())))
})

// smallest returns the smallest memory limit of the control groups in groups and of their parents, as far as they are
// visible below root. groups is the content of /proc/self/cgroup.
func smallest(root, groups string) (limit uint64) {
	limit = math.MaxUint64
	for groups != "" {
		var line string
		line, groups, _ = strings.Cut(groups, "\n")
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, _ := strings.Cut(rest, ":")
		folder, file := root, "/memory.max" // version 2
		switch {
		case controllers == "":
		case strings.Contains(","+controllers+",", ",memory,"):
			folder, file = root+"/memory", "/memory.limit_in_bytes"
		default:
			continue
		}
		for parent := len(group); parent >= 0; parent = strings.LastIndexByte(group, '/') {
			group = group[:parent]
			if bytes, ok := number(contents(folder + group + file)); ok {
				limit = min(limit, bytes)
			}
		}
	}
	return limit
}

// number reads the decimal number at the start of a text. ok is false if there is none or it is too large.
func number(text string) (n uint64, ok bool) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			break
		}
		if n > math.MaxUint64/10-1 {
			return 0, false
		}
		n, ok = n*10+uint64(c-'0'), true
	}
	return n, ok
}

// contents returns the content of a file, or "" if it cannot be read.
func contents(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}
