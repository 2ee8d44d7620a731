package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/seed3447c163/bloom/view"
)

// kinds are the kinds of filters.
var kinds = map[string]reflect.Type{
	"bloom": reflect.TypeFor[*bloom.BloomFilter](), "persist": reflect.TypeFor[*persist.File](),
	"counting": reflect.TypeFor[*counting.Filter](), "scalable": reflect.TypeFor[*scalable.Filter](),
	"rotating": reflect.TypeFor[*rotating.Filter](), "cascade": reflect.TypeFor[*cascade.Cascade](),
	"guard": reflect.TypeFor[*guard.Guard](), "List": reflect.TypeFor[*persist.List](),
	"view": reflect.TypeFor[view.View](), "Local": reflect.TypeFor[*redisfilter.Local](),
	"redisbloom": reflect.TypeFor[*redisbloom.Filter](),
}

// TestMethods: every kind of filter has the methods that the guide says all kinds share, and all kinds but two have
// ContainsString.
func TestMethods(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/guide.md"))
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "\nAll kinds share ")
	require.True(t, found)
	list, _, found = strings.Cut(list, ".")
	require.True(t, found)
	methods := inline.FindAllStringSubmatch(list, -1)
	require.Greater(t, len(methods), 5)
	for name, kind := range kinds {
		for _, method := range methods {
			if _, has := kind.MethodByName(method[1]); !has {
				t.Errorf("%s has no %s", name, method[1])
			}
		}
		_, has := kind.MethodByName("ContainsString")
		require.Equal(t, name != "redisbloom" && name != "Local", has, name)
	}
}
