package interleavings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

const library = "github.com/seed3447c163/bloom"

// inSteps reports whether sync/atomic is replaced. If not, it runs the test again with
// internal/testing/stepped instead.
func inSteps(t *testing.T) bool {
	if os.Getenv("BLOOM_IN_STEPS") != "" {
		return true
	}
	t.Logf("%s", testInSteps(t, "^"+t.Name()+"$", nil, "."))
	return false
}

// testInSteps runs tests of packages with internal/testing/stepped instead of sync/atomic.
func testInSteps(t *testing.T, run string, depths map[string]depth, packages ...string) (output []byte) {
	overlay := struct{ Replace map[string]string }{replaced(t)}
	list := exec.Command("go", append([]string{"list", "-deps", "-test", "-tags", "purego", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, library}, packages...)...)
	list.Env = append(os.Environ(), "GOFLAGS=")
	files, err := list.Output()
	require.NoError(t, err)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	found := map[string]bool{}
	for i, file := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(files))))) {
		if !strings.HasPrefix(file, root) || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "//") || strings.HasPrefix(file, filepath.Join(root, "internal", "testing", "stepped")) {
			continue
		}
		source := file
		if other, ok := overlay.Replace[file]; ok { // one of the broken twins
			source = other
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		require.NoError(t, err)
		folder = filepath.ToSlash(folder)
		note := func(name string) { found[folder+" "+name] = true }
		if text, changed := rewritten(t, source, depths[folder], note); changed {
			overlay.Replace[file] = filepath.Join(dir, fmt.Sprint(i, "_", filepath.Base(file)))
			require.NoError(t, os.WriteFile(overlay.Replace[file], text, 0o600))
		}
	}
	for folder := range depths {
		for _, name := range names[folder] {
			require.True(t, found[folder+" "+name], "package %s has no %q any more, on which the code in steps depends", folder, name)
		}
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, text, 0o600))

	// Without assembly, whose loads and ORs are the same as those of the Go kernels.
	args := append([]string{"test", "-overlay", name, "-tags", "purego steps", "-vet=off", "-v", "-timeout", "3h", "-run", run}, packages...)
	if *testkit.Long {
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

// The code in steps depends on some names of the library, each in one package.
const (
	idleChannel = "idle" // a field: a channel that is closed and never sent to
)

// counts are the fields whose sums are steps.
var counts = []string{"inside", "lost", "left"}

var names = map[string][]string{
	"internal/layered/tickets": {"lost", "left"},
	"guard":                    {idleChannel, "inside"},
}

// A depth says what counts as a step in a package.
type depth int

const (
	bitsOnly   depth = iota // operations on words of bits
	everything              // also on pointers, numbers and locks
	atOnce                  // a call of one of its methods, as a whole
)

// rewritten rewrites a file's imports. Operations whose results are unused become other functions, so
// that the results do not distinguish states. It calls note with each of the names that it finds.
func rewritten(t *testing.T, file string, how depth, note func(name string)) (text []byte, changed bool) {
	whole := how != bitsOnly
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.ParseComments)
	require.NoError(t, err)
	for _, spec := range tree.Imports {
		name := map[string]string{`"sync/atomic"`: "atomic", `"sync"`: "sync"}[spec.Path.Value]
		if name == "atomic" || name != "" && whole {
			spec.Path.Value, changed = strconv.Quote(library+"/internal/testing/stepped"), true
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
				node.Body.List = append(statements(t, "defer atomic.Whole()()"), node.Body.List...)
			}
		case *ast.BlockStmt:
			for i, statement := range node.List {
				if channel := idle(statement); whole && channel != "" {
					note(idleChannel)
					node.List = slices.Insert(node.List, i, statements(t, "atomic.Closed("+channel+")")...)
					break
				}
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
				case whole && name == "Add" && field != nil && slices.Contains(counts, field.Sel.Name):
					note(field.Sel.Name)
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

// statements parses statements of a function.
func statements(t *testing.T, text string) []ast.Stmt {
	tree, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+text+"\n}", 0)
	require.NoError(t, err)
	return tree.Decls[0].(*ast.FuncDecl).Body.List
}

// idle returns the channel named idleChannel that a statement waits for first, as text, or "".
func idle(statement ast.Stmt) string {
	if wait, ok := statement.(*ast.SelectStmt); ok && len(wait.Body.List) > 0 {
		if receive, ok := wait.Body.List[0].(*ast.CommClause).Comm.(*ast.ExprStmt); ok {
			if channel := types.ExprString(receive.X); strings.HasSuffix(channel, "."+idleChannel) {
				return strings.TrimPrefix(channel, "<-")
			}
		}
	}
	return ""
}
