package bitsandblooms

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrograms runs programs that use the bit set of a filter, with bits-and-blooms and, after a change of the import
// line, with the drop-in. They print the same. What they do was found in public programs.
func TestPrograms(t *testing.T) {
	programs, err := filepath.Glob("testdata/programs/*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		t.Run(filepath.Base(filepath.Dir(program)), func(t *testing.T) {
			path, err := filepath.Abs(program)
			require.NoError(t, err)
			source := string(must(os.ReadFile(path)))
			const theirs, ours = `"github.com/bits-and-blooms/bloom/v3"`, `"github.com/seed3447c163/bloom/compat/bitsandblooms"`
			require.Equal(t, 1, strings.Count(source, theirs))
			changed, list := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "overlay.json")
			require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(source, theirs, ours, 1)), 0o600))
			overlay := map[string]any{"Replace": map[string]string{path: changed}}
			require.NoError(t, os.WriteFile(list, must(json.Marshal(overlay)), 0o600))
			run := func(flags ...string) string {
				out, err := exec.CommandContext(t.Context(), "go", append(append([]string{"run"}, flags...), path)...).CombinedOutput()
				require.NoError(t, err, "%s", out)
				return string(out)
			}
			require.Equal(t, run(), run("-overlay", list))
		})
	}
}
