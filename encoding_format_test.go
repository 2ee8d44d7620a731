package bloom

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func formatDoc(t *testing.T) string {
	doc, err := os.ReadFile("docs/format.md")
	require.NoError(t, err)
	return string(doc)
}

// TestFormatDocHasEveryName: the document names all strategies and hashes that files have.
func TestFormatDocHasEveryName(t *testing.T) {
	doc := formatDoc(t)
	for _, s := range builtins {
		if len(s.members) == 0 { // no filter has it
			require.Contains(t, doc, "`"+s.name+"`")
		}
	}
	for _, h := range []hashDefinition{murmur3Hash, mapHash, sipHash, noHash} {
		require.Contains(t, doc, "`"+h.name+"`")
	}
	require.Contains(t, doc, "`"+keyCheckText+"`")
}

// TestPythonReader runs the reader of the docs on the golden files.
func TestPythonReader(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatal("there is no python3 here, and BLOOM_REQUIRE is set")
		}
		t.Skip("NOT TESTED: the reader in docs/format.md, as there is no python3 here")
	}
	_, code, found := strings.Cut(formatDoc(t), "```python\n")
	require.True(t, found)
	code, _, found = strings.Cut(code, "```")
	require.True(t, found)
	code += `
import sys
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        header, bits = read_filter(f)
        assert not f.read(), "more bytes"
    ones = [i for i in range(header["m"]) if bits[i // 8] >> i % 8 & 1]
    print(*header.values(), *ones)
`
	filters := portables(t)
	args, want := []string{"-c", code}, ""
	for name, p := range filters {
		args = append(args, filepath.Join("testdata", name+".bloom"))
		params := p.f.Params()
		rate := strings.TrimSuffix(fmt.Sprint(params.P), ".0")
		if params.P == 0 {
			rate = "0.0"
		}
		want += fmt.Sprint(params.M, params.K, params.N) + fmt.Sprintf(" %s %s %v %d", rate, p.f.Strategy(), p.f.scheme.hash.def.name, p.f.scheme.hash.checkValue())
		for _, pos := range setBits(p.f) {
			want += fmt.Sprint(" ", pos)
		}
		want += "\n"
	}
	got, err := exec.Command(python, args...).CombinedOutput()
	require.NoError(t, err, string(got))
	require.Equal(t, want, string(got))
}
