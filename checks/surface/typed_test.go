package surface

import (
	"go/types"
	"reflect"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom/typed"
	"github.com/stretchr/testify/require"
)

// notTyped are the types with a method Add of keys that package typed does not serve, and why.
var notTyped = map[string]string{
	"bloom.Builder":             "its Add has no answer, and it has no lookups",
	"compat.BloomFilter":        "the drop-in has the methods of bits-and-blooms",
	"prombloom.Collector":       "its Add takes a filter",
	"redisfilter/bf.Filter":     "its methods take a context",
	"redisfilter/bitmap.Filter": "its methods take a context",
	"redisfilter.Filter":        "its methods take a context",
	"view.Builder":              "its Add has no answer, and it has no lookups",
	"view.Filter":               "its Add has no answer, and it has no batches",
}

// TestTypedServesEveryKind: every type with a method Add is one of typed's two kinds of sets, or says why not.
func TestTypedServesEveryKind(t *testing.T) {
	values := cases(t)
	set, growing := reflect.TypeFor[typed.Set](), reflect.TypeFor[typed.GrowingSet]()
	var served []string
	for pkg, of := range exported(t) {
		name := caseOf(pkg, of)
		methods := types.NewMethodSet(types.NewPointer(of.Type()))
		if pkg.Name == "typed" || methods.Lookup(of.Pkg(), "Add") == nil {
			continue
		}
		kind := reflect.TypeOf(values[name])
		switch is := []bool{kind.Implements(set), kind.Implements(growing)}; {
		case slices.Contains(is, true):
			require.Empty(t, notTyped[name], name)
			served = append(served, name)
		case notTyped[name] == "":
			t.Errorf("%s has a method Add, and typed does not serve it", name)
		}
	}
	t.Logf("served: %v", served)
	require.GreaterOrEqual(t, len(served), 5)
}
