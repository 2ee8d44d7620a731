// Suites chooses tests by their code, for builds in which only few tests can have other results. It prints arguments
// for go test.
//
//	go run ./checks/suites concurrent ./...    for the race detector: tests that start goroutines
//	go run ./checks/suites goroutines ./...    and all tests of packages that start some
//	go run ./checks/suites builds . ./view     for other processors: tests of kernels, of unsafe code, of the limits of
//	                                           int, and of golden files
//
// The code of a test includes the functions in its package's test files that it names.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A kind is a property of code by which tests are chosen.
type kind struct {
	has func(ast.Node) bool
	all bool // if a package has it outside of test files, all its tests are chosen
}

var kinds = map[string]kind{
	"concurrent": {has: starts},
	"goroutines": {has: starts, all: true},
	"builds": {has: func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && differs.MatchString(id.Name)
	}},
}

var (
	differs = regexp.MustCompile(`^unsafe$|^[kK]ernel|^vector$|^(Int|Uint)Size$|^MaxU?[iI]nt$|^GOARCH$|^Frozen$|^TestFrozen|^Test\w*InLockstep$`)
	isTest  = regexp.MustCompile(`^Test([^a-z]|$)`)
)

// starts reports whether a node of a syntax tree starts goroutines.
func starts(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		s, ok := call.Fun.(*ast.SelectorExpr)
		return ok && (s.Sel.Name == "Go" || s.Sel.Name == "RunParallel")
	}
	_, ok := n.(*ast.GoStmt)
	return ok
}

func main() {
	if len(os.Args) < 3 {
		log.Fatalf("usage: suites %v packages", slices.Sorted(maps.Keys(kinds)))
	}
	names, packages, err := choose(kinds[os.Args[1]], os.Args[2:]...)
	if err != nil || len(names) == 0 {
		log.Fatalf("%s: %d tests of %v, %v", os.Args[1], len(names), os.Args[2:], err)
	}
	fmt.Printf("-run ^(%s)$ %s\n", strings.Join(names, "|"), strings.Join(packages, " "))
}

// choose returns the names of the chosen tests, and their packages.
func choose(k kind, patterns ...string) (names, packages []string, err error) {
	cmd := exec.Command("go", append([]string{"list", "-f", "{{.Dir}} {{.ImportPath}}"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	chosen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		dir, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		tests, err := k.tests(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range tests {
			chosen[name] = true
		}
		if len(tests) > 0 {
			packages = append(packages, path)
		}
	}
	return slices.Sorted(maps.Keys(chosen)), packages, err
}

// tests returns the chosen tests of a folder.
func (k kind) tests(dir string) (names []string, err error) {
	has, calls, all := map[string]bool{}, map[string][]string{}, false
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if match, err := build.Default.MatchFile(dir, filepath.Base(path)); err != nil || !match {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			name := ""
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(path, "_test.go") {
				name = f.Name.Name // methods count by their names
			}
			ast.Inspect(d, func(n ast.Node) bool {
				has[name] = has[name] || n != nil && k.has(n)
				if id, ok := n.(*ast.Ident); ok && id.Name != name {
					calls[name] = append(calls[name], id.Name)
				}
				return true
			})
			all = all || k.all && has[name] && !strings.HasSuffix(path, "_test.go")
		}
	}
	for more := true; more; {
		more = false
		for name := range calls {
			if name != "" && !has[name] && slices.ContainsFunc(calls[name], func(call string) bool { return has[call] }) {
				has[name], more = true, true
			}
		}
	}
	for name := range calls {
		if isTest.MatchString(name) && name != "TestMain" && (all || has[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}
