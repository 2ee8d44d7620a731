package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The package documentation names each folder, as below or above by the imports of its files.
func TestDocNamesPackages(t *testing.T) {
	files := token.NewFileSet()
	doc, err := parser.ParseFile(files, "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	below, above, found := strings.Cut(doc.Doc.Text(), "\nAbove,")
	require.True(t, found)
	folders, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		isAbove := false
		require.NoError(t, filepath.WalkDir(folder.Name(), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.ImportsOnly)
			for _, i := range file.Imports {
				isAbove = isAbove || i.Path.Value == `"github.com/seed3447c163/bloom"`
			}
			return err
		}))
		_, list, _ := strings.Cut(below, ": ")
		require.Equal(t, isAbove, strings.Contains(above, folder.Name()), folder.Name())
		require.Equal(t, !isAbove, strings.Contains(list, folder.Name()), folder.Name())
	}
}
