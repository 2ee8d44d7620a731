package bloom

import (
	"fmt"
	"strconv"
	"sync/atomic"
)

// Strategies and hashes are identified by their names. Custom ones without a name are for this
// process, which numbers them.

// nameless counts the strategies and hashes without a name.
var nameless atomic.Uint64

// serialFor returns the number of a new one, 0 if it has a name.
func serialFor(name string) uint64 {
	if name != "" {
		return 0
	}
	return nameless.Add(1)
}

// shown is for logs and errors: the name, or else the number.
func shown(name string, serial uint64) string {
	switch {
	case name != "":
		return name
	case serial > 0:
		return fmt.Sprintf("unnamed#%d", serial)
	}
	return "none"
}

// quoted differs from that of all others of this process, whatever characters are in a name.
func quoted(name string, serial uint64) string {
	if serial > 0 {
		return fmt.Sprintf("%q#%d", name, serial)
	}
	return strconv.Quote(name)
}
