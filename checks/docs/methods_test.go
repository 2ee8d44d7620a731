package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

// kinds are the filters of the guide's table, by the names of its columns.
var kinds = map[string]reflect.Type{
	"bloom": reflect.TypeFor[*bloom.BloomFilter](), "persist": reflect.TypeFor[*persist.File](),
	"counting": reflect.TypeFor[*counting.Filter](), "scalable": reflect.TypeFor[*scalable.Filter](),
	"rotating": reflect.TypeFor[*rotating.Filter](), "cascade": reflect.TypeFor[*cascade.Cascade](),
	"guard": reflect.TypeFor[*guard.Guard](), "List": reflect.TypeFor[*persist.List](),
	"view": reflect.TypeFor[view.View](), "Local": reflect.TypeFor[*redisfilter.Local](),
	"redisbloom": reflect.TypeFor[*redisbloom.Filter](),
}

// TestMethods compares the guide's table of methods and kinds with the code. A cell is "yes", or the number of
// the reason why the method is missing.
func TestMethods(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/guide.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## Which methods\n")
	require.True(t, found)
	cells := func(line string) []string {
		var all []string
		for cell := range strings.SplitSeq(strings.Trim(line, "| "), "|") {
			all = append(all, strings.Trim(cell, "` "))
		}
		return all
	}
	var columns []string
	rows := 0
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		switch row := cells(line); {
		case strings.HasPrefix(line, "## "):
			require.Len(t, columns, len(kinds)+1)
			require.Greater(t, rows, 6)
			return
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--"):
		case columns == nil:
			columns = row
		default:
			rows++
			require.Len(t, row, len(columns), line)
			for i, cell := range row[1:] {
				kind := kinds[columns[i+1]]
				require.NotNil(t, kind, "a column %q", columns[i+1])
				for method := range strings.SplitSeq(strings.ReplaceAll(row[0], "`", ""), ", ") {
					_, has := kind.MethodByName(method)
					reason := regexp.MustCompile(`^[1-9]$`).MatchString(cell) && strings.Contains(table, "\n"+cell+". ")
					if has != (cell == "yes") || !has && !reason {
						t.Errorf("%v has %s: %v, and the table says %q", kind, method, has, cell)
					}
				}
			}
		}
	}
}
