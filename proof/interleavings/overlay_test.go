package interleavings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

const library = "github.com/seed3447c163/bloom"

// inSteps reports whether sync/atomic has been replaced. If not, it runs the test again, by a
// go command that reads the packages with internal/stepped in its place.
func inSteps(t *testing.T) bool {
	if os.Getenv("BLOOM_IN_STEPS") != "" {
		return true
	}
	var args []string
	if *effort.Long {
		args = []string{"-long"}
	}
	overlay := struct{ Replace map[string]string }{replaced(t)}
	list := exec.Command("go", "list", "-deps", "-tags", "purego", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, library)
	list.Env = append(os.Environ(), "GOFLAGS=")
	files, err := list.Output()
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	for i, file := range strings.Fields(string(files)) {
		if !strings.HasPrefix(file, root) {
			continue
		}
		source := file
		if other, ok := overlay.Replace[file]; ok { // one of the broken twins
			source = other
		}
		if text, changed := rewritten(t, source); changed {
			overlay.Replace[file] = filepath.Join(dir, fmt.Sprint(i, "_", filepath.Base(file)))
			require.NoError(t, os.WriteFile(overlay.Replace[file], text, 0o600))
		}
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, text, 0o600))

	// Without assembly: its loads and ORs are those of the kernels in Go.
	command := exec.Command("go", append([]string{"test", "-overlay", name, "-tags", "purego", "-vet=off", "-v", "-timeout", "3h", "-run", "^" + t.Name() + "$", "."}, args...)...)
	command.Env = append(os.Environ(), "GOFLAGS=", "BLOOM_IN_STEPS=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	return false
}

// replaced are the files that an overlay in GOFLAGS has put in place of others already.
func replaced(t *testing.T) map[string]string {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if name, ok := strings.CutPrefix(flag, "-overlay="); ok {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &overlay))
		}
	}
	return overlay.Replace
}

// rewritten rewrites a file: the import, and the ORs whose result nobody uses, so that what
// they found does not tell states apart.
func rewritten(t *testing.T, file string) (text []byte, changed bool) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.ParseComments)
	require.NoError(t, err)
	for _, spec := range tree.Imports {
		if spec.Path.Value == `"sync/atomic"` {
			spec.Path.Value, changed = strconv.Quote(library+"/internal/stepped"), true
			spec.Name = ast.NewIdent("atomic")
		}
	}
	if !changed {
		return nil, false
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		if statement, ok := node.(*ast.ExprStmt); ok {
			if call, ok := statement.X.(*ast.CallExpr); ok {
				if function, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(function.Sel.Name, "Or") {
					function.Sel.Name = "Set" + strings.TrimPrefix(function.Sel.Name, "Or")
				}
			}
		}
		return true
	})
	var out bytes.Buffer
	require.NoError(t, format.Node(&out, files, tree))
	return out.Bytes(), true
}
