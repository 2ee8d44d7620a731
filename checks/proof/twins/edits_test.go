package twins

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/imports"
)

// files returns the files that the twin changes or adds, by their paths.
func (w twin) files(t *testing.T) map[string]string {
	files := map[string]string{}
	for _, e := range w.edits {
		path, text, from, to := e.find(t, files)
		part := text[from:to]
		var changed string
		if e.old == "" {
			changed = "{\n" + e.new + "\n}"
		} else {
			old := tokens(e.old)
			require.Regexp(t, old, part, "%s in %s", e.declaration, path)
			changed = old.ReplaceAllLiteralString(part, e.new)
		}
		require.NotEqual(t, part, changed, "%s in %s is not changed", e.declaration, path)
		files[path] = text[:from] + changed + text[to:]
	}
	for path, text := range files {
		if strings.HasSuffix(path, ".go") {
			fixed, err := imports.Process(path, []byte(text), nil) // adds and removes imports
			require.NoError(t, err)
			files[path] = string(fixed)
		}
	}
	if w.slow {
		slowDown(t, files)
	}
	return files
}

// tokens matches code with any spaces, line breaks and comments between its tokens.
func tokens(code string) *regexp.Regexp {
	list := regexp.MustCompile(`\w+|[^\w\s]`).FindAllString(code, -1)
	for i, token := range list {
		list[i] = regexp.QuoteMeta(token)
		if regexp.MustCompile(`^\w`).MatchString(token) {
			list[i] = `\b` + list[i] + `\b`
		}
	}
	return regexp.MustCompile(strings.Join(list, `(?:\s|//.*)*`))
}

// find returns the file of an edit's declaration and where in it the declaration, or its body,
// begins and ends. files are the ones that other edits have changed.
func (e edit) find(t *testing.T, files map[string]string) (path, text string, from, to int) {
	folder := filepath.Join(root(t), e.folder)
	read := func(path string) string {
		if text, ok := files[path]; ok {
			return text
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(raw)
	}
	if strings.HasSuffix(e.declaration, ".s") {
		path = filepath.Join(folder, e.declaration)
		text = regexp.MustCompile(`#include "(\w+_amd64\.h)"`).ReplaceAllStringFunc(read(path), func(include string) string {
			return read(filepath.Join(folder, strings.Split(include, `"`)[1])) // an overlay does not replace it
		})
		return path, text, 0, len(text)
	}
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	found := 0
	for _, source := range sources {
		if match, _ := build.Default.MatchFile(folder, filepath.Base(source)); !match || strings.HasSuffix(source, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, source, read(source), 0)
		require.NoError(t, err)
		node := declared(tree, e.declaration)
		if node == nil {
			continue
		}
		found++
		if f, ok := node.(*ast.FuncDecl); ok && e.old == "" {
			node = f.Body
		}
		path, text = source, read(source)
		from, to = fset.Position(node.Pos()).Offset, fset.Position(node.End()).Offset
	}
	require.Equal(t, 1, found, "declarations named %s in %s: was it renamed?", e.declaration, folder)
	return path, text, from, to
}

// declared returns the declaration of a name, or nil.
func declared(tree *ast.File, name string) ast.Node {
	if object := tree.Scope.Lookup(name); object != nil {
		return object.Decl.(ast.Node)
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			receiver, _, _ := strings.Cut(types.ExprString(f.Recv.List[0].Type), "[")
			if strings.TrimPrefix(receiver, "*")+"."+f.Name.Name == name {
				return f
			}
		}
	}
	return nil
}

// slowDown lets every method of the bit array yield to other goroutines now and then.
func slowDown(t *testing.T, files map[string]string) {
	path := filepath.Join(root(t), "bitarray.go")
	text, ok := files[path]
	if !ok {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		text = string(raw)
	}
	slow := regexp.MustCompile(`(?m)^(func \(.*\{)$`).ReplaceAllString(text, "$1\n\tyield()")
	require.NotEqual(t, text, slow)
	files[path] = slow
	files[filepath.Join(root(t), "yield.go")] = `package bloom

import (
	"runtime"
	"sync/atomic"
)

var yields atomic.Uint32

func yield() {
	if yields.Add(0x9e3779b9)>>30 == 0 {
		runtime.Gosched()
	}
}
`
}
