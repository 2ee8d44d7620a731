package interleavings

import (
	"testing"

	// A test that was run before is run again when one of these has changed.
	_ "github.com/seed3447c163/bloom/counting"
	_ "github.com/seed3447c163/bloom/guard"
	_ "github.com/seed3447c163/bloom/internal/tickets"
	_ "github.com/seed3447c163/bloom/rotating"
	_ "github.com/seed3447c163/bloom/scalable"
)

// Packages that do more at the same time than to set bits have tests that need the build tag
// steps, and whose names end with InSteps. These run them, and with them the packages' own
// code, one operation after the other.

func TestScalableInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"scalable": everything, "internal/tickets": atOnce}, library+"/scalable"))
}

func TestRotatingInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"rotating": everything, "internal/tickets": atOnce}, library+"/rotating"))
}

func TestCountingInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"counting": everything}, library+"/counting"))
}

func TestTicketsInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"internal/tickets": everything}, library+"/internal/tickets"))
}

func TestGuardInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"guard": everything}, library+"/guard"))
}
