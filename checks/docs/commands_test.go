package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	inline   = regexp.MustCompile("`([^`\n]+)`")
	indented = regexp.MustCompile(`(?m)^    (.*)$`)
	word     = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	program  = regexp.MustCompile(`^(go (run|install|build|vet|test)|bash|cd) `)

	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	variable   = regexp.MustCompile(`\bBLOOM_[A-Z_]+\b`)
	comment    = regexp.MustCompile(`(?m)^\s*//.*`)
	function   = regexp.MustCompile(`(?m)^func (?:\(.*?\) )?(\w+)[\[(]`)
	skipped    = regexp.MustCompile(`(?:-skip |(?i:slow)\+?=)'([^']+)'`)
	namedTest  = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
)

// TestNamedTests fails if a comment in Go or a document names a test or a benchmark that does not exist.
func TestNamedTests(t *testing.T) {
	exists := map[string]bool{"TestMine": true} // of a user
	named := map[string]string{}
	note := func(path string, text []byte) {
		for _, name := range namedTest.FindAllString(string(text), -1) {
			named[name] = path
		}
	}
	for _, d := range read(t, "*.go") {
		for _, m := range function.FindAllSubmatch(d.source, -1) {
			exists[string(m[1])] = true
		}
		for _, line := range comment.FindAll(d.source, -1) {
			note(d.path, line)
		}
	}
	for _, d := range documents(t) {
		for _, m := range inline.FindAllSubmatch(d.source, -1) {
			if !program.Match(m[1]) && namedTest.FindString(string(m[1])) == string(m[1]) {
				note(d.path, m[1])
			}
		}
	}
	require.NotEmpty(t, named)
	for name, path := range named {
		if !exists[name] {
			t.Errorf("%s names %s, which is not there", path, name)
		}
	}
}

// TestSkips fails if a script leaves out a test that does not exist.
func TestSkips(t *testing.T) {
	var tests []string
	for _, d := range read(t, "*_test.go") {
		for _, m := range function.FindAllSubmatch(d.source, -1) {
			tests = append(tests, string(m[1]))
		}
	}
	found := 0
	for _, script := range read(t, ".ci/*") {
		for _, m := range skipped.FindAllStringSubmatch(string(script.source), -1) {
			list, whole := strings.CutPrefix(m[1], "^Test(")
			for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(list, "|"), ")$"), "|") {
				if found++; whole {
					name = "^Test" + name + "$"
				}
				if !slices.ContainsFunc(tests, regexp.MustCompile(name).MatchString) {
					t.Errorf("%s leaves out %s, which is not there", script.path, name)
				}
			}
		}
	}
	require.Greater(t, found, 10)
}

// A command is one of a document, to be run in a folder of the repository.
type command struct {
	dir   string
	words []string
}

// commands returns the commands of a document. A cd is for the following commands of its block.
func commands(d document) (all []command) {
	blocks := fence.FindAllString(string(d.source), -1)
	prose := fence.ReplaceAllString(string(d.source), "")
	for _, m := range inline.FindAllStringSubmatch(prose, -1) {
		blocks = append(blocks, m[1])
	}
	for _, m := range indented.FindAllStringSubmatch(prose, -1) {
		blocks = append(blocks, m[1])
	}
	for _, block := range blocks {
		dir := "."
		for line := range strings.Lines(block) {
			var words []string
			end := func() {
				for len(words) > 0 && (words[0] == "$" || assignment.MatchString(words[0])) {
					words = words[1:]
				}
				if len(words) > 1 && program.MatchString(strings.Join(words, " ")) {
					if all = append(all, command{dir, words}); words[0] == "cd" {
						dir = words[1]
						all[len(all)-1].dir = dir
					}
				}
				words = nil
			}
			for _, w := range word.FindAllString(line, -1) {
				if w == "&&" {
					end()
				} else if strings.ContainsAny(w[:1], "|>#") {
					break
				} else {
					words = append(words, w)
				}
			}
			end()
		}
	}
	return all
}

// valued are flags of go test with a value. The ones that change what is compiled are kept when tests are listed.
var valued = []string{"-run", "-bench", "-fuzz", "-skip", "-count", "-benchtime", "-fuzztime", "-cpu", "-timeout"}

// wrong returns what is wrong with a command: folders, scripts and flags that do not exist, and patterns that
// match nothing.
func (c command) wrong(t *testing.T) string {
	dir := filepath.Join(root, c.dir)
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(dir, strings.TrimSuffix(path, "...")))
		return err == nil
	}
	switch {
	case c.words[0] == "cd":
		if !exists(".") {
			return "no such folder"
		}
	case c.words[0] == "bash":
		if c.words[1] != "-c" && !exists(c.words[1]) && !exists(filepath.Join("checks/peers", c.words[1])) {
			return "no such script"
		}
	case c.words[1] != "test":
		for _, w := range c.words[2:] {
			if strings.HasPrefix(w, "./") && !exists(w) {
				return "no such folder"
			}
		}
	default:
		return c.wrongTest(t, dir, exists)
	}
	return ""
}

func (c command) wrongTest(t *testing.T, dir string, exists func(string) bool) string {
	var patterns, flags, packages []string
	for i := 2; i < len(c.words); i++ {
		switch w := c.words[i]; {
		case slices.Contains(valued, w):
			i++
			if value := strings.Trim(c.words[i], `'"`); (w == "-run" || w == "-bench" || w == "-fuzz") && value != "^$" {
				value, _, _ = strings.Cut(value, "/") // the subtests are known when they run
				patterns = append(patterns, strings.Split(value, "|")...)
			}
		case w == "." || strings.HasPrefix(w, "./"):
			if packages = append(packages, w); !exists(w) {
				return "no folder " + w
			}
		case w != "-v" && w != "-race":
			flags = append(flags, w)
		}
	}
	if len(patterns)+len(flags) == 0 {
		return ""
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	cmd := exec.Command("go", append(append([]string{"test", "-vet=off", "-list", "."}, packages...), flags...)...)
	cmd.Env = append(os.Environ(), "GOWORK=") // documents speak of the workspace
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v\n%s", err, out)
	}
	names := regexp.MustCompile(`(?m)^(Test|Benchmark|Fuzz|Example)\w*$`).FindAllString(string(out), -1)
	for _, p := range patterns {
		if !slices.ContainsFunc(names, regexp.MustCompile(p).MatchString) {
			return "nothing matches " + p
		}
	}
	return ""
}

// TestCommands resolves every command of every document.
func TestCommands(t *testing.T) {
	count := 0
	for _, d := range documents(t) {
		for _, c := range commands(d) {
			count++
			if wrong := c.wrong(t); wrong != "" {
				t.Errorf("%s: in %s: %s: %s", d.path, c.dir, strings.Join(c.words, " "), wrong)
			}
		}
	}
	require.Positive(t, count)
	t.Logf("%d commands", count)
}

// TestVariables looks for the environment variables that documents name. Something must read each.
func TestVariables(t *testing.T) {
	var code strings.Builder
	for _, d := range read(t, "*.go") {
		code.Write(d.source)
	}
	for _, d := range documents(t) {
		for _, name := range variable.FindAllString(string(d.source), -1) {
			if !strings.Contains(code.String(), `"`+name+`"`) {
				t.Errorf("%s names %s, which nothing reads", d.path, name)
			}
		}
	}
}

// TestWrongCommandsAreFound: each of these commands is wrong.
func TestWrongCommandsAreFound(t *testing.T) {
	const text = "`go test " + "./gone`, `bash .ci/gone`, `cd gone && go vet .`\n\n    go test ./view -run TestGone -update\n    X=1 go test . -gone\n\n" +
		"```sh\ncd checks\ngo test ./docs -run 'TestLinks|TestGone' | cat # why\n```\n"
	found := commands(document{"test.md", []byte(text)})
	wrong := 0
	for _, c := range found {
		if c.wrong(t) != "" {
			wrong++
		}
	}
	require.Len(t, found, 8)
	require.Equal(t, 6, wrong, "all but cd checks and go vet; %v", found)
}
