package docs

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	// What snippets may import must be in go.mod.
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/redis/go-redis/v9"

	_ "github.com/seed3447c163/bloom/prombloom"
	_ "github.com/seed3447c163/bloom/redisfilter"
)

// imports may be used in snippets without being imported.
const imports = `bufio bytes context crypto/rand crypto/sha1 database/sql encoding/binary encoding/hex encoding/json errors expvar fmt hash/maphash io iter log log/slog
	maps net/http net/netip os slices strings sync sync/atomic testing time
	github.com/prometheus/client_golang/prometheus github.com/redis/go-redis/v9`

// ours are this library's packages, by their folders.
const ours = `. bloomtest cascade counting guard interop/bitsandblooms interop/guava interop/parquet interop/redisbloom persist prombloom redisfilter redisfilter/bitmap
	redisfilter/bf rotating scalable typed view`

// given may be used in snippets without being declared.
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

var (
	snippet    = regexp.MustCompile("(?ms)(?:^<!-- (given|not compiled|from):(.*?)-->\\s*?\n)?^ *```go\n(.*?)^ *```$")
	declared   = regexp.MustCompile(`(?m)^\s*(?:var|func|type)\s+(\w+)`)
	returnsTwo = regexp.MustCompile(`(?m)^\s*return [^({/\n]+, `) // no comma of a comment
	isFile     = regexp.MustCompile(`(?m)^package `)
)

// goFiles returns a document's snippets as Go files, by the lines where they begin.
func goFiles(d document) map[string]string {
	all := map[string]string{}
	for _, at := range snippet.FindAllSubmatchIndex(d.source, -1) {
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return string(d.source[at[2*i]:at[2*i+1]])
		}
		code := part(3)
		name := fmt.Sprintf("%s:%d", d.path, 1+bytes.Count(d.source[:at[6]], []byte("\n")))
		switch {
		case part(1) == "not compiled", part(1) == "from":
		case isFile.MatchString(code):
			all[name] = code
		default:
			all[name] = wrapped(part(2), code)
		}
	}
	return all
}

// wrapped returns a file of declarations or the inside of a function.
func wrapped(declares, code string) string {
	var b strings.Builder
	b.WriteString("package snippet\n")
	for path := range strings.FieldsSeq(imports) {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	for folder := range strings.FieldsSeq(ours) {
		fmt.Fprintf(&b, "import %q\n", strings.TrimSuffix(modulePath+"/"+folder, "/."))
	}
	common := given
	for _, m := range declared.FindAllStringSubmatch(declares, -1) {
		common = regexp.MustCompile(`(?m)^(\t|func )`+m[1]+`\b.*\n`).ReplaceAllString(common, "")
	}
	b.WriteString(common + declares + "\n//line snippet:1\n")
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package snippet\n"+code, 0); err == nil {
		return b.String() + code
	}
	results, end := "error", "nil"
	if returnsTwo.MatchString(code) {
		results, end = "(any, error)", "nil, nil"
	}
	return b.String() + fmt.Sprintf("func _() %s {\n%s\nreturn %s\n}\n", results, code, end)
}

// problems compiles snippets and returns what is wrong, by their names. A variable or an import
// that is not used is right in a snippet.
func problems(t *testing.T, snippets map[string]string) map[string]string {
	overlay, patterns, names := map[string][]byte{}, []string{}, map[string]string{}
	for name, text := range snippets {
		dir := fmt.Sprintf("./snippet%d", len(names))
		path, err := filepath.Abs(filepath.Join(dir, "snippet.go"))
		require.NoError(t, err)
		overlay[path], names[filepath.Dir(path)] = []byte(text), name
		patterns = append(patterns, dir)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Overlay: overlay}, patterns...)
	require.NoError(t, err)
	require.Len(t, loaded, len(snippets))
	found := map[string]string{}
	for _, p := range loaded {
		require.NotEmpty(t, p.GoFiles, "%v", p.Errors)
		name := names[filepath.Dir(p.GoFiles[0])]
		for _, e := range p.TypeErrors {
			if !e.Soft {
				found[name] += fmt.Sprintf("\tline %d: %s\n", e.Fset.Position(e.Pos).Line, e.Msg)
			}
		}
		for _, e := range p.Errors {
			if e.Kind == packages.ParseError {
				found[name] += "\t" + e.Msg + "\n"
			}
		}
	}
	return found
}

// TestSnippets compiles every snippet of every document.
func TestSnippets(t *testing.T) {
	all := map[string]string{}
	for _, d := range documents(t) {
		for name, text := range goFiles(d) {
			all[name] = text
		}
	}
	require.NotEmpty(t, all)
	for name, text := range problems(t, all) {
		t.Errorf("%s does not compile:\n%s", name, text)
	}
	t.Logf("%d snippets", len(all))
}

// TestQuotations looks for each snippet "from" a file in that file.
func TestQuotations(t *testing.T) {
	quoted := 0
	for _, d := range documents(t) {
		for _, m := range snippet.FindAllSubmatch(d.source, -1) {
			if string(m[1]) == "from" {
				quoted++
				source, err := os.ReadFile(filepath.Join(root, string(bytes.TrimSpace(m[2]))))
				require.NoError(t, err, d.path)
				require.Contains(t, string(source), string(m[3]), "%s does not quote%s", d.path, m[2])
			}
		}
	}
	require.Positive(t, quoted)
}

// TestChecksFail finds what is wrong in a document, and nothing else.
func TestChecksFail(t *testing.T) {
	d := document{"test.md", []byte("# A\n\n```go\nf, err := bloom.New(1, 0.1)\n```\n\n```go\nf.Nonsense()\n```\n\n" +
		"```go\nif n > 0 {\n\treturn nil, err\n}\nreturn bloom.New(n, p)\n```\n\n<!-- given: var f int -->\n```go\nf = 3\n```\n\n- list\n\n  ```go\n  func g() int { return 1 }\n  ```\n\n" +
		"```go\nif {\n```\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(undefined) }\n```\n\n" +
		"<!-- not compiled: for a reason -->\n```go\nnonsense\n```\n\n```sh\ngo get\n```\n\n[x](gone.md) [a](#a) [b](#b)\n")}
	snippets := goFiles(d)
	require.Len(t, snippets, 7)
	var wrong []string
	for name := range problems(t, snippets) {
		wrong = append(wrong, name)
	}
	require.ElementsMatch(t, []string{"test.md:8", "test.md:30", "test.md:34"}, wrong)
	broken := 0
	for _, path := range links(d) {
		if follow(map[string]document{d.path: d}, d, path) != nil {
			broken++
		}
	}
	require.Equal(t, 2, broken)
}
