package check

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// TestLinks: every relative link and picture leads to a file, and its anchor to a heading.
func TestLinks(t *testing.T) {
	docs := documents(t)
	byPath := map[string]document{}
	for _, d := range docs {
		byPath[d.path] = d
	}
	followed := 0
	for _, d := range docs {
		for _, link := range links(d.tree) {
			u, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: link %q: %v", d.path, link, err)
				continue
			}
			if u.Scheme != "" {
				continue // elsewhere: that it answers is not this repository's promise
			}
			followed++
			if err := follow(byPath, d, u); err != nil {
				t.Errorf("%s: link %q: %v", d.path, link, err)
			}
		}
	}
	t.Logf("%d links followed in %d documents", followed, len(docs))
}

func follow(docs map[string]document, from document, u *url.URL) error {
	target := from.path
	if u.Path != "" {
		target = filepath.Join(filepath.Dir(from.path), filepath.FromSlash(u.Path))
		if _, err := os.Stat(filepath.Join(root, target)); err != nil {
			return fmt.Errorf("no such file: %s", target)
		}
	}
	if u.Fragment == "" {
		return nil
	}
	d, ok := docs[target]
	if !ok {
		return nil // a line of a source file
	}
	for _, heading := range headings(d) {
		if heading == u.Fragment {
			return nil
		}
	}
	return fmt.Errorf("no heading %q in %s, there are %q", u.Fragment, target, headings(d))
}

func links(tree ast.Node) (found []string) {
	walk(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			found = append(found, string(n.Destination))
		case *ast.Image:
			found = append(found, string(n.Destination))
		}
	})
	return found
}

// headings returns the anchors that GitHub gives to a document's headings.
func headings(d document) (anchors []string) {
	seen := map[string]int{}
	walk(d.tree, func(n ast.Node) {
		heading, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		var title strings.Builder
		walk(heading, func(n ast.Node) {
			if text, ok := n.(*ast.Text); ok {
				title.Write(text.Value(d.source))
			}
		})
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, title.String())
		if n := seen[slug]; n > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", slug, n))
		} else {
			anchors = append(anchors, slug)
		}
		seen[slug]++
	})
	return anchors
}

func walk(tree ast.Node, visit func(ast.Node)) {
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// mentions are paths that texts name without a link: documents in comments, and folders
// in commands.
var mentions = []*regexp.Regexp{
	regexp.MustCompile(`\b(docs/[\w./-]+\.md)\b`),
	regexp.MustCompile(`go (?:run|build|install|test|vet)(?: -[\w=]+)* \./([\w/-]+)`),
}

// TestMentions: whatever Go files and documents name so is there.
func TestMentions(t *testing.T) {
	found := 0
	for _, path := range append(files(t, "*.go"), files(t, "*.md")...) {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range mentions {
			for _, m := range pattern.FindAllStringSubmatchIndex(string(source), -1) {
				named := string(source[m[2]:m[3]])
				found++
				if existsFrom(filepath.Dir(path), named) {
					continue
				}
				t.Errorf("%s:%d names %s, which is not there", path, lineOf(source, m[2]), named)
			}
		}
	}
	if found == 0 {
		t.Error("nothing found: do the patterns still match?")
	}
}

// existsFrom reports whether a path leads somewhere from a folder or from one above it.
func existsFrom(dir, path string) bool {
	for {
		if _, err := os.Stat(filepath.Join(root, dir, path)); err == nil {
			return true
		}
		if dir == "." {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

func mustParse(t *testing.T, link string) *url.URL {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
