//go:build !linux

package bloom

// physicalMemory is unknown where the standard library has no call for it.
func physicalMemory() (total uint64, ok bool) { return 0, false }

// adviseHugePages does nothing where there is no such call, or none that is known
// to pay.
func adviseHugePages(bitArray) {}
