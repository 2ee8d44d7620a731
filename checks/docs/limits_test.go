package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/seed3447c163/bloom"

// maxWeight limits the bytes that a filter adds to a program that has log/slog, as nearly all do. Raising it needs a
// reason in the commit.
const maxWeight = 285_000

// TestWeight builds a program with a filter and one without. Package time, or one function that makes
// definitions of strategies at a program's start, is enough to fail it: the linker then keeps what no
// program asked for. "go build -ldflags=-dumpdep" shows why a function is kept.
func TestWeight(t *testing.T) {
	size := func(imports, statements string) int64 {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
		require.NoError(t, os.WriteFile(source, []byte("package main\nimport \"fmt\"\nimport \"log/slog\"\n"+imports+"\nfunc main() { fmt.Println(slog.Value{}); "+statements+" }\n"), 0o644))
		cmd := exec.Command("go", "build", "-trimpath", "-o", program, source)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		info, err := os.Stat(program)
		require.NoError(t, err)
		return info.Size()
	}
	weight := size(`import "`+modulePath+`"`, `f := bloom.MustNew(1000, 0.01); f.AddString("a"); fmt.Println(f.ContainsString("x"))`) - size("", "")
	t.Logf("%d bytes", weight)
	require.LessOrEqual(t, weight, int64(maxWeight))
}
