package check

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// root is the repository's top folder.
const root = "../.."

// A document is a Markdown file.
type document struct {
	path   string // from the root
	source []byte
	tree   ast.Node
}

// documents parses all Markdown files of the repository.
func documents(t *testing.T) (docs []document) {
	t.Helper()
	for _, path := range files(t, "*.md") {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, document{path, source, parse(source)})
	}
	if len(docs) < 3 {
		t.Fatalf("%d documents, want more: are they looked for in the right place?", len(docs))
	}
	return docs
}

func parse(source []byte) ast.Node {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	return markdown.Parser().Parse(text.NewReader(source))
}

// files lists the repository's files of a pattern, those that are not ignored.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	var paths []string
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil && path != "" { // or it is just being removed
			paths = append(paths, path)
		}
	}
	return paths
}

// lineOf returns the line, from 1, of an offset in a source.
func lineOf(source []byte, offset int) int { return bytes.Count(source[:offset], []byte("\n")) + 1 }
