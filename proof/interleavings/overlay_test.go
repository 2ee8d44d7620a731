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
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

const library = "github.com/seed3447c163/bloom"

// inSteps reports whether sync/atomic is replaced. If not, it runs the test again with
// internal/stepped instead.
func inSteps(t *testing.T) bool {
	if os.Getenv("BLOOM_IN_STEPS") != "" {
		return true
	}
	t.Logf("%s", testInSteps(t, "^"+t.Name()+"$", nil, "."))
	return false
}

// testInSteps runs tests of packages with internal/stepped instead of sync/atomic.
func testInSteps(t *testing.T, run string, depths map[string]depth, packages ...string) (output []byte) {
	overlay := struct{ Replace map[string]string }{replaced(t)}
	list := exec.Command("go", append([]string{"list", "-deps", "-test", "-tags", "purego", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, library}, packages...)...)
	list.Env = append(os.Environ(), "GOFLAGS=")
	files, err := list.Output()
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	for i, file := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(files))))) {
		if !strings.HasPrefix(file, root) || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "//") || strings.HasPrefix(file, filepath.Join(root, "internal", "stepped")) {
			continue
		}
		source := file
		if other, ok := overlay.Replace[file]; ok { // one of the broken twins
			source = other
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		require.NoError(t, err)
		if text, changed := rewritten(t, source, depths[filepath.ToSlash(folder)]); changed {
			overlay.Replace[file] = filepath.Join(dir, fmt.Sprint(i, "_", filepath.Base(file)))
			require.NoError(t, os.WriteFile(overlay.Replace[file], text, 0o600))
		}
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, text, 0o600))

	// Without assembly, whose loads and ORs are the same as those of the Go kernels.
	args := append([]string{"test", "-overlay", name, "-tags", "purego steps", "-vet=off", "-v", "-timeout", "3h", "-run", run}, packages...)
	if *effort.Long {
		args = append(args, "-long")
	}
	command := exec.Command("go", args...)
	command.Env = append(os.Environ(), "GOFLAGS=", "BLOOM_IN_STEPS=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return out
}

// replaced returns the files that an overlay in GOFLAGS replaces already, as for a broken twin.
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

// A depth says what counts as a step in a package.
type depth int

const (
	bitsOnly   depth = iota // operations on words of bits
	everything              // also on pointers, numbers and locks
	atOnce                  // a call of one of its methods, as a whole
)

// replacements make random choices and waits for channels steps too.
var replacements = strings.NewReplacer(
	"return stack * 0x9e3779b97f4a7c15 >> b.shift", "_ = stack\n\treturn atomic.Number() % uint64(len(b.cells))",
	"select {\n\tcase <-p.idle:", "atomic.Closed(p.idle)\n\tselect {\n\tcase <-p.idle:",
)

// rewritten rewrites a file's imports. Operations whose results are unused become other functions, so
// that the results do not distinguish states.
func rewritten(t *testing.T, file string, how depth) (text []byte, changed bool) {
	whole := how != bitsOnly
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	if whole {
		source = []byte(replacements.Replace(string(source)))
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments)
	require.NoError(t, err)
	for _, spec := range tree.Imports {
		name := map[string]string{`"sync/atomic"`: "atomic", `"sync"`: "sync", `"runtime"`: "runtime"}[spec.Path.Value]
		if name == "atomic" || name != "" && whole {
			spec.Path.Value, changed = strconv.Quote(library+"/internal/stepped"), true
			spec.Name = ast.NewIdent(name)
		}
	}
	if !changed {
		return nil, false
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			if how == atOnce && node.Name.IsExported() && node.Recv != nil {
				end := &ast.CallExpr{Fun: &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("atomic"), Sel: ast.NewIdent("Whole")}}}
				node.Body.List = append([]ast.Stmt{&ast.DeferStmt{Call: end}}, node.Body.List...)
			}
		case *ast.ExprStmt:
			call, ok := node.X.(*ast.CallExpr)
			if !ok {
				break
			}
			if function, ok := call.Fun.(*ast.SelectorExpr); ok {
				field, _ := function.X.(*ast.SelectorExpr)
				switch name := function.Sel.Name; {
				case strings.HasPrefix(name, "Or"):
					function.Sel.Name = "Set" + strings.TrimPrefix(name, "Or")
				case whole && name == "Add" && field != nil && counts[field.Sel.Name]:
					function.Sel.Name = "Bump"
				}
			}
		case *ast.SelectorExpr:
			if of, ok := node.X.(*ast.Ident); ok && whole && of.Name == "atomic" && node.Sel.Name == "Pointer" {
				node.Sel.Name = "Shared"
			}
		}
		return true
	})
	var out bytes.Buffer
	require.NoError(t, format.Node(&out, files, tree))
	return out.Bytes(), true
}

// counts are the fields whose sums are steps.
var counts = map[string]bool{"inside": true, "used": true, "given": true, "left": true}
