package interleavings

import (
	"testing"

	// A change in one of these invalidates cached test results.
	_ "github.com/seed3447c163/bloom/counting"
	_ "github.com/seed3447c163/bloom/guard"
	_ "github.com/seed3447c163/bloom/internal/layered"
	_ "github.com/seed3447c163/bloom/internal/layered/tickets"
	_ "github.com/seed3447c163/bloom/rotating"
)

// Packages with more shared state than bits have their own tests, with the build tag steps and names
// that end with InSteps. The tests here run them with all operations in steps.

func TestLayeredInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"internal/layered": everything, "internal/layered/tickets": atOnce}, library+"/internal/layered"))
}

func TestRotatingInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"rotating": everything, "internal/layered": everything, "internal/layered/tickets": atOnce}, library+"/rotating"))
}

func TestCountingInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"counting": everything}, library+"/counting"))
}

func TestTicketsInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"internal/layered/tickets": everything}, library+"/internal/layered/tickets"))
}

func TestGuardInSteps(t *testing.T) {
	t.Logf("%s", testInSteps(t, "InSteps$", map[string]depth{"guard": everything}, library+"/guard"))
}
