package docs

import (
	"bytes"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const modulePath = "github.com/seed3447c163/bloom"

// Limits keep the library small. Raising one needs a reason in the commit.
const (
	maxWords       = 20_000 // in all Markdown files
	maxReadmeWords = 1_200
	maxNames       = 420     // exported by packages that others import
	maxWeight      = 240_000 // bytes that a filter adds to a program
)

// TestWords counts words with a letter in all documents.
func TestWords(t *testing.T) {
	all := 0
	for _, d := range documents(t) {
		words := 0
		for word := range bytes.FieldsSeq(d.source) {
			if bytes.ContainsFunc(word, unicode.IsLetter) {
				words++
			}
		}
		t.Logf("%6d %s", words, d.path)
		if d.path == "README.md" {
			require.LessOrEqual(t, words, maxReadmeWords, "words in README.md")
		}
		all += words
	}
	require.LessOrEqual(t, all, maxWords, "words in all documents")
}

// TestExportedNames counts functions, variables, constants, types, fields and methods that others can use.
func TestExportedNames(t *testing.T) {
	all := 0
	for _, module := range []string{".", "redisfilter", "prombloom"} {
		list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedExportFile,
			Dir: filepath.Join(root, module), Env: append(os.Environ(), "GOWORK=off")}, "./...")
		require.NoError(t, err)
		for _, p := range list {
			require.Empty(t, p.Errors)
			if p.Name == "main" || strings.Contains(p.PkgPath, "/internal") {
				continue
			}
			count := 0
			for _, name := range p.Types.Scope().Names() {
				object := p.Types.Scope().Lookup(name)
				if !object.Exported() {
					continue
				}
				count++
				name, ok := object.(*types.TypeName)
				if !ok {
					continue
				}
				of := name.Type()
				if fields, ok := of.Underlying().(*types.Struct); ok {
					for field := range fields.Fields() {
						if field.Exported() {
							count++
						}
					}
				}
				if !types.IsInterface(of) {
					of = types.NewPointer(of)
				}
				for method := range types.NewMethodSet(of).Methods() {
					if method.Obj().Exported() {
						count++
					}
				}
			}
			t.Logf("%4d %s", count, p.PkgPath)
			all += count
		}
	}
	t.Logf("%4d in all", all)
	require.LessOrEqual(t, all, maxNames, "exported names")
}

// TestWeight builds a program with a filter and one without. Package time, or one function that makes
// definitions of strategies at a program's start, is enough to fail it: the linker then keeps what no
// program asked for. "go build -ldflags=-dumpdep" shows why a function is kept.
func TestWeight(t *testing.T) {
	size := func(imports, statements string) int64 {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
		require.NoError(t, os.WriteFile(source, []byte("package main\nimport \"fmt\"\n"+imports+"\nfunc main() { fmt.Println(); "+statements+" }\n"), 0o644))
		cmd := exec.Command("go", "build", "-o", program, source)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		info, err := os.Stat(program)
		require.NoError(t, err)
		return info.Size()
	}
	weight := size(`import "`+modulePath+`"`, `f := bloom.MustNew(1000, 0.01); f.AddString("a"); fmt.Println(f.ContainsString("x"))`) - size("", "")
	t.Logf("%d bytes", weight)
	require.LessOrEqual(t, weight, int64(maxWeight))
}

// TestPictures fails if the root module contains a picture that the README does not show.
func TestPictures(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, path := range append(files(t, "*.png"), files(t, "*.svg")...) {
		if !strings.HasPrefix(path, "examples/") { // a module of its own
			require.Contains(t, string(readme), "("+path+")")
		}
	}
}
