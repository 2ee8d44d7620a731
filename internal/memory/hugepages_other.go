//go:build !linux

package memory

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// HugePages returns an error that wraps errors.ErrUnsupported.
func HugePages([]atomic.Uint64) error {
	return fmt.Errorf("huge pages: %w on %s", errors.ErrUnsupported, runtime.GOOS)
}
