package bloom

import (
	"fmt"
	"strconv"
	"sync/atomic"
)

// Names identify strategies and hashes. Custom ones without a name are for this process, which
// numbers them.

// nameless counts the strategies and hashes without a name.
var nameless atomic.Uint64

// serialFor returns the number of a new one, 0 if it has a name.
func serialFor(name string) uint64 {
	if name != "" {
		return 0
	}
	return nameless.Add(1)
}

// displayName returns the name or the number, for logs and errors.
func displayName(name string, serial uint64) string {
	switch {
	case name != "":
		return name
	case serial > 0:
		return fmt.Sprintf("unnamed#%d", serial)
	}
	return "none"
}

// uniqueName returns a text that no other strategy or hash of this process has, whatever characters
// are in a name.
func uniqueName(name string, serial uint64) string {
	if serial > 0 {
		return fmt.Sprintf("%q#%d", name, serial)
	}
	return strconv.Quote(name)
}
