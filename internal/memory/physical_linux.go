package memory

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Physical returns the bytes of memory that the machine has, or its container if that has less.
// The runtime answers a request for more with a fatal error, or the kernel kills the process;
// no caller could handle either.
func Physical() (total uint64, ok bool) {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0, false
	}
	return min(uint64(info.Totalram)*uint64(info.Unit), container()), true
}

// container returns the memory limit of the process's control groups. It looks once.
var container = sync.OnceValue(func() uint64 {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return smallest("/sys/fs/cgroup", string(groups))
})

// smallest returns the smallest memory limit of the groups in a /proc/self/cgroup and of their
// parents, as far as they are visible below root.
func smallest(root, groups string) (limit uint64) {
	limit = math.MaxUint64
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		folder, file := root, "memory.max" // version 2
		switch {
		case controllers == "":
		case strings.Contains(","+controllers+",", ",memory,"):
			folder, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		for ; ; group = path.Dir(group) {
			text, _ := os.ReadFile(path.Join(folder, group, file))
			if bytes, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				limit = min(limit, bytes)
			}
			if !strings.HasPrefix(group, "/") || group == "/" {
				break
			}
		}
	}
	return limit
}
