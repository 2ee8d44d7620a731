package check

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/tools/go/packages"
)

// imports are what snippets may use without saying so.
var imports = []string{
	"bufio", "bytes", "context", "crypto/rand", "database/sql", "encoding/binary", "encoding/json", "errors", "expvar", "fmt", "io", "iter", "log", "log/slog",
	"maps", "net/http", "net/netip", "os", "slices", "strings", "sync", "sync/atomic", "time",
	"github.com/prometheus/client_golang/prometheus",
	"github.com/redis/go-redis/v9",
	"github.com/seed3447c163/bloom",
	"github.com/seed3447c163/bloom/cascade",
	"github.com/seed3447c163/bloom/counting",
	"github.com/seed3447c163/bloom/guard",
	"github.com/seed3447c163/bloom/interop/bitsandblooms",
	"github.com/seed3447c163/bloom/interop/guava",
	"github.com/seed3447c163/bloom/interop/rebloom",
	"github.com/seed3447c163/bloom/persist",
	"github.com/seed3447c163/bloom/prombloom",
	"github.com/seed3447c163/bloom/redisfilter",
	"github.com/seed3447c163/bloom/redisfilter/bitmap",
	"github.com/seed3447c163/bloom/redisfilter/module",
	"github.com/seed3447c163/bloom/redisfilter/growing",
	"github.com/seed3447c163/bloom/redisfilter/window",
	"github.com/seed3447c163/bloom/rotating",
	"github.com/seed3447c163/bloom/scalable",
	"github.com/seed3447c163/bloom/typed",
	"github.com/seed3447c163/bloom/view",
}

// given is what snippets may take for granted.
const given = `
var (
	n       uint64
	p       float64
	f       *bloom.BloomFilter
	filters []*bloom.BloomFilter
	key     []byte
	keys    [][]byte
	url     string
	urls    []string
	secret  [16]byte
	file    interface { io.ReadWriteCloser; io.Seeker }
	err     error
)

func fetch(url string) {}
`

// A snippet is a block of Go in a document.
type snippet struct {
	name   string // document and line
	code   string
	given  string
	reason string // not to compile it
}

var (
	givenComment  = regexp.MustCompile(`(?s)<!--\s*given:\s*(.*?)\s*-->`)
	returnsTwo    = regexp.MustCompile(`(?m)^\s*return [^({\n]+, `)
	reasonComment = regexp.MustCompile(`(?s)<!--\s*not compiled:\s*(.*?)\s*-->`)
)

func snippets(d document) (found []snippet) {
	for n := d.tree.FirstChild(); n != nil; n = n.NextSibling() {
		collect(d, n, &found)
	}
	return found
}

func collect(d document, n ast.Node, found *[]snippet) {
	block, ok := n.(*ast.FencedCodeBlock)
	if !ok {
		for c := n.FirstChild(); c != nil && n.Type() == ast.TypeBlock; c = c.NextSibling() {
			collect(d, c, found)
		}
		return
	}
	if string(block.Language(d.source)) != "go" || block.Lines().Len() == 0 {
		return
	}
	s := snippet{name: fmt.Sprintf("%s:%d", d.path, lineOf(d.source, block.Lines().At(0).Start))}
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		s.code += string(line.Value(d.source))
	}
	if above, ok := n.PreviousSibling().(*ast.HTMLBlock); ok {
		var comment string
		for i := range above.Lines().Len() {
			line := above.Lines().At(i)
			comment += string(line.Value(d.source))
		}
		if above.HasClosure() {
			comment += string(above.ClosureLine.Value(d.source))
		}
		if m := givenComment.FindStringSubmatch(comment); m != nil {
			s.given = m[1]
		}
		if m := reasonComment.FindStringSubmatch(comment); m != nil {
			s.reason = m[1]
		}
	}
	*found = append(*found, s)
}

// file makes a Go file of the snippet.
func (s snippet) file() string {
	if strings.HasPrefix(strings.TrimSpace(stripComments(s.code)), "package ") {
		return s.code
	}
	var b strings.Builder
	b.WriteString("package snippet\n")
	for _, path := range imports {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	b.WriteString(s.own())
	body := "//line snippet:1\n" + s.code
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package snippet\n"+s.code, 0); err == nil {
		b.WriteString(body)
	} else {
		results, end := "error", "nil"
		if returnsTwo.MatchString(s.code) {
			results, end = "(any, error)", "nil, nil"
		}
		fmt.Fprintf(&b, "func _() %s {\n%s\nreturn %s\n}\n", results, body, end)
	}
	return b.String()
}

// own is what is given to the snippet: the common part without what its own comment
// declares otherwise.
func (s snippet) own() string {
	common := given
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:var|func|type)\s+(\w+)`).FindAllStringSubmatch(s.given, -1) {
		common = regexp.MustCompile(`(?m)^(\t|func )`+m[1]+`\b.*\n`).ReplaceAllString(common, "")
	}
	return common + s.given + "\n"
}

func stripComments(code string) string {
	return regexp.MustCompile(`(?m)^//.*\n`).ReplaceAllString(code, "")
}

// TestSnippets compiles them all. That a variable or an import is not used is no error
// in a snippet.
func TestSnippets(t *testing.T) {
	overlay, patterns := map[string][]byte{}, []string{}
	compiled := map[string]snippet{}
	for _, d := range documents(t) {
		for _, s := range snippets(d) {
			if s.reason != "" {
				t.Logf("%s is not compiled: %s", s.name, s.reason)
				continue
			}
			dir := fmt.Sprintf("./snippet%d", len(compiled))
			path, err := filepath.Abs(filepath.Join(dir, "snippet.go"))
			if err != nil {
				t.Fatal(err)
			}
			overlay[path] = []byte(s.file())
			patterns = append(patterns, dir)
			compiled[filepath.Dir(path)] = s
		}
	}
	if len(compiled) < 3 {
		t.Fatalf("%d snippets, want more: are they looked for in the right place?", len(compiled))
	}
	for s, problems := range typeErrors(t, overlay, patterns, compiled) {
		t.Errorf("%s does not compile:\n\t%s", s, strings.Join(problems, "\n\t"))
	}
	t.Logf("%d snippets compiled", len(compiled))
}

// typeErrors loads the packages of an overlay and returns what is wrong, by snippet.
func typeErrors(t *testing.T, overlay map[string][]byte, patterns []string, compiled map[string]snippet) map[string][]string {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Overlay: overlay,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string][]string{}
	matched := 0
	for _, pkg := range loaded {
		if len(pkg.GoFiles) == 0 {
			t.Errorf("%s: %v", pkg.ID, pkg.Errors)
			continue
		}
		s, ok := compiled[filepath.Dir(pkg.GoFiles[0])]
		if !ok {
			t.Errorf("unknown package %s", pkg.GoFiles[0])
			continue
		}
		matched++
		for _, e := range pkg.TypeErrors {
			if !e.Soft {
				problems[s.name] = append(problems[s.name], fmt.Sprintf("line %d: %s", e.Fset.Position(e.Pos).Line, e.Msg))
			}
		}
		for _, e := range pkg.Errors {
			if e.Kind == packages.ParseError { // ListError is the same once more, from the compiler
				problems[s.name] = append(problems[s.name], e.Msg)
			}
		}
	}
	if matched != len(compiled) {
		t.Errorf("%d packages, want %d", matched, len(compiled))
	}
	for _, list := range problems {
		slices.Sort(list)
	}
	return problems
}

// TestTheCheckItself: what is wrong is found, what is only unused is not.
func TestTheCheckItself(t *testing.T) {
	source := "# A\n\n```go\nf, err := bloom.New(1, 0.1)\n```\n\n```go\nf.Nonsense()\n```\n\n" +
		"```go\nif n > 0 {\n\treturn nil, err\n}\nreturn bloom.New(n, p)\n```\n\n<!-- given: var f int -->\n```go\nf = 3\n```\n\n- list\n\n  ```go\n  func g() int { return 1 }\n  ```\n\n" +
		"```go\nif {\n```\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(undefined) }\n```\n\n" +
		"<!-- not compiled: for a reason -->\n```go\nnonsense\n```\n\n```sh\ngo get\n```\n\n[x](gone.md) [a](#a) [b](#b)\n"
	d := document{path: "test.md", source: []byte(source), tree: parse([]byte(source))}
	overlay, patterns, compiled := map[string][]byte{}, []string{}, map[string]snippet{}
	for i, s := range snippets(d) {
		if s.reason != "" {
			continue
		}
		dir := fmt.Sprintf("./check%d", i)
		path, _ := filepath.Abs(filepath.Join(dir, "snippet.go"))
		overlay[path], patterns = []byte(s.file()), append(patterns, dir)
		compiled[filepath.Dir(path)] = s
	}
	if len(compiled) != 7 {
		t.Fatalf("%d snippets, want 7", len(compiled))
	}
	got := typeErrors(t, overlay, patterns, compiled)
	for name, want := range map[string]bool{"test.md:4": false, "test.md:8": true, "test.md:12": false, "test.md:20": false, "test.md:26": false, "test.md:30": true, "test.md:34": true} {
		if (len(got[name]) > 0) != want {
			t.Errorf("%s: problems %q", name, got[name])
		}
	}
	byPath := map[string]document{"test.md": d}
	broken := 0
	for _, link := range links(d.tree) {
		u := mustParse(t, link)
		if follow(byPath, d, u) != nil {
			broken++
		}
	}
	if broken != 2 {
		t.Errorf("%d broken links, want 2", broken)
	}
}
