// Package environment says where and with which versions figures were taken.
package environment

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Taken says when, where and by which command figures were taken; without it they mean
// nothing.
func Taken(command string) string {
	caches := "caches unknown"
	if c := cpuid.CPU.Cache; c.L1D > 0 && c.L2 > 0 {
		caches = fmt.Sprintf("L1 %d KiB, L2 %d KiB, L3 %d KiB", c.L1D>>10, c.L2>>10, max(c.L3, 0)>>10)
	}
	return fmt.Sprintf("Taken on %s with `%s`: %s, %d cores, %s, transparent huge pages %s, %s/%s, %s",
		time.Now().UTC().Format("2006-01-02"), command, strings.TrimSpace(cpuid.CPU.BrandName), runtime.GOMAXPROCS(0),
		caches, hugePages(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// hugePages returns what Linux does without being asked: it decides whether a large filter
// has them.
func hugePages() string {
	data, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	_, after, _ := strings.Cut(string(data), "[")
	chosen, _, _ := strings.Cut(after, "]")
	return chosen
}

// Versions returns the version of each module that this program was built with.
func Versions() map[string]string {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	return versions
}
