package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"golang.org/x/tools/go/packages"
)

// TestCard holds the top level to what it was promised to be.
func TestCard(t *testing.T) {
	for _, name := range []string{
		"go.mod", "go.sum", "bloom.go", "bitarray.go", "params.go", "strategy.go", "bloom_test.go", "bench_test.go", "examples", "README.md", "LICENSE",
	} {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Error(err)
		}
	}
	for file, text := range map[string]string{
		"bitarray.go": "[]atomic.Uint64",
		"params.go":   "func ParamsFor(",
		"strategy.go": "type Strategy ",
		"bloom.go":    "type BloomFilter ",
	} {
		source, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil || !strings.Contains(string(source), text) {
			t.Errorf("%s does not have %q (%v)", file, text, err)
		}
	}
	f := bloom.MustNew(10, 0.1)
	if f.Strategy() != bloom.DoubleHashing || f.Stats().Hash != "murmur3" {
		t.Errorf("the default is %v, want double hashing of one Murmur3 digest", f)
	}
	if f := bloom.MustNew(10, 0.1, bloom.WithStrategy(bloom.SeededHashing)); f.Strategy() != bloom.SeededHashing {
		t.Errorf("%v, want seeded hashing", f)
	}
}

// TestBenchmarksCompareStrategies runs them once.
func TestBenchmarksCompareStrategies(t *testing.T) {
	command := exec.Command("go", "test", "-run", "^$", "-bench", "Contains//n=10000$", "-benchtime", "1x", ".")
	command.Dir = "../.."
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, strategy := range []string{"double-hashing", "seeded-hashing", "blocked"} {
		if !strings.Contains(string(out), "strategy="+strategy+"/") {
			t.Errorf("strategy %s is not among the benchmarks:\n%s", strategy, out)
		}
	}
}

// modulePath is the path of the root module.
const modulePath = "github.com/seed3447c163/bloom"

// TestRootKnowsNothingBelow: the root package imports no folder of the repository but
// those of internal, and these do not import the root.
func TestRootKnowsNothingBelow(t *testing.T) {
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Dir: "../.."}, ".")
	if err != nil {
		t.Fatal(err)
	}
	for path, p := range list[0].Imports {
		if !strings.HasPrefix(path, modulePath+"/") {
			continue
		}
		if !strings.HasPrefix(path, modulePath+"/internal/") {
			t.Errorf("the root imports %s", path)
		}
		for of := range p.Imports {
			if of == modulePath {
				t.Errorf("%s, which the root imports, knows the root", path)
			}
		}
	}
}
