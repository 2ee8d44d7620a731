package testkit

import (
	"flag"
	"testing"
)

var (
	// Long is the value of the flag -long.
	Long = flag.Bool("long", false, "try everything as often as a release demands")
	// Update is the value of the flag -update.
	Update = flag.Bool("update", false, "write golden files; of frozen ones those that are missing")
)

// Times returns long with -long, short with -short or under the race detector, otherwise usual. The race detector is
// ten times slower.
func Times(short, usual, long int) int {
	switch {
	case *Long:
		return long
	case testing.Short() || RaceDetector:
		return short
	}
	return usual
}
