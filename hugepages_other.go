//go:build !linux

package bloom

// adviseHugePages does nothing where there is no such call, or none that is known
// to pay.
func adviseHugePages(bitArray) {}
