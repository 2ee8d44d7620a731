package bitsandblooms

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// releases are the releases of bits-and-blooms whose tests run over the drop-in.
var releases = []string{"v3.3.1", "v3.4.0", "v3.5.0", "v3.6.0", "v3.7.0", "v3.7.1"}

// dropped are the functions of their tests that use unexported names other than fields, with these names. The drop-in
// has no such names. The other functions must compile and pass.
var dropped = map[string]string{
	"TestMarshalUnmarshalJSONValue": "a literal of BloomFilter with its fields, of a value from package bitset",
	"chiTestBloom":                  "baseHashes and location, which TestDropIn compares by Locations",
	"TestLocation":                  "chiTestBloom",
	"TestHashBasic":                 "digest128",
	"TestHashRandom":                "digest128",
	"min":                           "chiTestBloom; it would hide Go's min in the drop-in",
}

// accessors are the exported names for the fields that their tests read.
var accessors = map[string]string{"m": "Cap", "k": "K", "b": "BitSet"}

// TestTheirTests runs the tests of bits-and-blooms over the drop-in. It copies them from the module cache, replaces
// fields by their accessors, and leaves the dropped functions out.
func TestTheirTests(t *testing.T) {
	drop, err := filepath.Abs("../../../compat/bitsandblooms")
	require.NoError(t, err)
	unused := map[string]bool{}
	for name := range dropped {
		unused[name] = true
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			overlay := map[string]string{filepath.Join(drop, "bloom_test.go"): "", filepath.Join(drop, "encoding_test.go"): ""}
			sources, err := filepath.Glob(filepath.Join(source(t, release), "*_test.go"))
			require.NoError(t, err)
			require.Len(t, sources, 2)
			for _, file := range sources {
				mended := filepath.Join(t.TempDir(), filepath.Base(file))
				require.NoError(t, os.WriteFile(mended, mend(t, file, unused), 0o600))
				overlay[filepath.Join(drop, "theirs_"+filepath.Base(file))] = mended
			}
			list := filepath.Join(t.TempDir(), "overlay.json")
			require.NoError(t, os.WriteFile(list, must(json.Marshal(map[string]any{"Replace": overlay})), 0o600))
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-overlay", list, ".")
			// GOWORK= lets it run in the workspace, because the drop-in requires a root that may have no tag.
			cmd.Dir, cmd.Env = drop, append(os.Environ(), "GOWORK=")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.GreaterOrEqual(t, bytes.Count(out, []byte("--- PASS: ")), 25, "%s", out)
		})
	}
	require.Empty(t, unused, "these functions are not in any release")
}

// source returns the folder of a release in the module cache.
func source(t *testing.T, release string) string {
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/bits-and-blooms/bloom/v3@"+release)
	cmd.Dir = t.TempDir() // outside this module, which requires one release
	out, err := cmd.Output()
	if err != nil {
		testkit.Missing(t, "bits-and-blooms "+release)
	}
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	return module.Dir
}

// mend returns a file of tests without the dropped functions and the imports that only they use, and with accessors.
func mend(t *testing.T, file string, unused map[string]bool) []byte {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, 0)
	require.NoError(t, err)
	var keep []ast.Decl
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && dropped[f.Name.Name] != "" {
			delete(unused, f.Name.Name)
			continue
		}
		keep = append(keep, d)
	}
	tree.Decls = keep
	packages := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if accessor := accessors[s.Sel.Name]; accessor != "" {
				s.Sel.Name = accessor + "()"
			}
			if x, ok := s.X.(*ast.Ident); ok {
				packages[x.Name] = true
			}
		}
		return true
	})
	imports := tree.Decls[0].(*ast.GenDecl)
	imports.Specs = slices.DeleteFunc(imports.Specs, func(spec ast.Spec) bool {
		name, err := strconv.Unquote(spec.(*ast.ImportSpec).Path.Value)
		return err != nil || !packages[path.Base(name)]
	})
	var out bytes.Buffer
	require.NoError(t, format.Node(&out, fset, tree))
	return out.Bytes()
}
