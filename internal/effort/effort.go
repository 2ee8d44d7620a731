// Package effort says how hard tests try.
package effort

import (
	"flag"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"
)

// Long is set where everything is tried as often as docs/guarantees.md says.
var Long = flag.Bool("long", false, "try everything as often as docs/guarantees.md says")

// Times returns how often something is tried: short with -short or under the race detector,
// which makes everything ten times slower, long with -long, and otherwise usual.
func Times(short, usual, long int) int {
	switch {
	case *Long:
		return long
	case testing.Short() || lockstep.RaceDetector:
		return short
	}
	return usual
}
