// Package program is what the measuring programs have in common: what they read from the
// command line, say meanwhile, and write of where figures were taken.
package program

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Taken says when, where and by which command figures were taken; without it they mean
// nothing.
func Taken(command string, args []string) string {
	c := cpuid.CPU.Cache
	return fmt.Sprintf("Taken on %s with `%s`: %s, %d cores, L1 %d KiB, L2 %d KiB, L3 %d KiB, %s/%s, %s",
		time.Now().UTC().Format("2006-01-02"), strings.Join(append([]string{command}, args...), " "),
		strings.TrimSpace(cpuid.CPU.BrandName), runtime.GOMAXPROCS(0),
		max(c.L1D, 0)>>10, max(c.L2, 0)>>10, max(c.L3, 0)>>10, runtime.GOOS, runtime.GOARCH, runtime.Version())
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

// Sizes reads numbers of keys, separated by commas.
func Sizes(list string) (sizes []uint64, err error) {
	for word := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x >= 1 && x <= 1e10) || x != float64(uint64(x)) {
			return nil, fmt.Errorf("-n: %q is not a number of keys from 1 to 1e10", word)
		}
		sizes = append(sizes, uint64(x))
	}
	return sizes, nil
}

// Rates reads false-positive rates, separated by commas.
func Rates(list string, least, most float64) (rates []float64, err error) {
	for word := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x >= least && x <= most) {
			return nil, fmt.Errorf("-p: %q is not a rate from %g to %g", word, least, most)
		}
		rates = append(rates, x)
	}
	return rates, nil
}

// Percent writes a rate with three digits.
func Percent(rate float64) string { return fmt.Sprintf("%.3g %%", rate*100) }

// Grouped writes a number with spaces that do not break between its thousands.
func Grouped(n uint64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return digits
}
