// Package effort scales the number of repetitions in tests.
package effort

import (
	"flag"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"
)

// Long is set by -long.
var Long = flag.Bool("long", false, "try everything as often as docs/guarantees.md says")

// Times returns short with -short or under the race detector, which is ten times slower, long with -long, and
// otherwise usual.
func Times(short, usual, long int) int {
	switch {
	case *Long:
		return long
	case testing.Short() || lockstep.RaceDetector:
		return short
	}
	return usual
}
