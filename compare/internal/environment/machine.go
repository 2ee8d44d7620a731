// Package environment says where and with which versions figures were taken.
package environment

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// A Machine is where, when and how figures were taken; without it they mean
// nothing.
type Machine struct {
	CPU       string
	Cores     int
	Caches    string
	System    string
	HugePages string
	Go        string
	Date      string
	Command   string
}

// This describes the machine that runs the command.
func This(command string) Machine {
	return Machine{
		CPU:       cpuName(),
		Cores:     runtime.GOMAXPROCS(0),
		Caches:    caches(),
		System:    runtime.GOOS + "/" + runtime.GOARCH,
		HugePages: hugePages(),
		Go:        runtime.Version(),
		Date:      time.Now().UTC().Format("2006-01-02"),
		Command:   command,
	}
}

func cpuName() string {
	if name := strings.TrimSpace(cpuid.CPU.BrandName); name != "" {
		return name
	}
	return "unknown CPU"
}

func caches() string {
	var levels []string
	for i, size := range []int{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3} {
		if size > 0 {
			levels = append(levels, fmt.Sprintf("L%d %s", i+1, byteSize(uint64(size))))
		}
	}
	return strings.Join(levels, ", ")
}

func byteSize(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.3g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.3g KiB", float64(n)/(1<<10))
}

// hugePages returns what the system does without being asked, of the three words
// that Linux offers: it decides whether a large filter has them.
func hugePages() string {
	data, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	_, after, _ := strings.Cut(string(data), "[")
	chosen, _, _ := strings.Cut(after, "]")
	return chosen
}
