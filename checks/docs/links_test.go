package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// root is the repository's top folder.
const root = "../.."

// files lists the repository's files of a pattern.
func files(t *testing.T, pattern string) (paths []string) {
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", pattern)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(out)) {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil { // not just removed
			paths = append(paths, path)
		}
	}
	return paths
}

// A document is a file, in most cases Markdown.
type document struct {
	path   string // from the root
	source []byte
}

// read returns the files of some patterns.
func read(t *testing.T, patterns ...string) (all []document) {
	for _, pattern := range patterns {
		for _, path := range files(t, pattern) {
			source, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(t, err)
			all = append(all, document{path, source})
		}
	}
	require.NotEmpty(t, all)
	return all
}

func documents(t *testing.T) []document { return read(t, "*.md") }

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	target  = regexp.MustCompile(`\]\([^)]*\)`)
	mention = regexp.MustCompile(`\b(docs/[\w./-]+\.md)\b|go (?:run|build|install|test|vet)(?: -[\w=]+)* \./([\w/-]+)|\x60([\w*]+\.go)\x60`)
)

// TestLinks follows every link to a file or heading of the repository.
func TestLinks(t *testing.T) {
	byPath := map[string]document{}
	for _, d := range documents(t) {
		byPath[d.path] = d
	}
	followed := 0
	for _, d := range byPath {
		for _, path := range links(d) {
			followed++
			if err := follow(byPath, d, path); err != nil {
				t.Errorf("%s: %v", d.path, err)
			}
		}
	}
	require.Positive(t, followed)
}

// links returns the targets of a document's links within the repository.
func links(d document) (paths []string) {
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(fence.ReplaceAllString(string(d.source), ""), ""), -1) {
		if path := m[1] + m[2]; !strings.Contains(path, ":") {
			paths = append(paths, path)
		}
	}
	return paths
}

func follow(byPath map[string]document, d document, link string) error {
	path, anchor, _ := strings.Cut(link, "#")
	name := d.path
	if path != "" {
		name = filepath.Join(filepath.Dir(d.path), path)
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil && path != "" {
		return fmt.Errorf("link %q: no such file", link)
	}
	if to, ok := byPath[name]; ok && anchor != "" && !anchors(to)[anchor] {
		return fmt.Errorf("link %q: no such heading in %s", link, name)
	}
	return nil
}

// anchors returns the names that GitHub gives to a document's headings.
func anchors(d document) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(d.source), ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, target.ReplaceAllString(m[1], "]"))
		for name, i := slug, 1; ; name, i = fmt.Sprintf("%s-%d", slug, i), i+1 {
			if !all[name] {
				all[name] = true
				break
			}
		}
	}
	return all
}

// TestMentions looks for the documents, folders and files that comments, commands and lists name without a link.
func TestMentions(t *testing.T) {
	for _, d := range read(t, "*.go", "*.md") {
		for _, m := range mention.FindAllStringSubmatch(string(d.source), -1) {
			named, found := m[1]+m[2]+m[3], false
			for _, dir := range []string{filepath.Dir(d.path), ".", "*", "*/*"} { // a command may begin with cd
				matches, _ := filepath.Glob(filepath.Join(root, dir, named))
				found = found || len(matches) > 0
			}
			if !found {
				t.Errorf("%s names %s, which is not there", d.path, named)
			}
		}
	}
}
