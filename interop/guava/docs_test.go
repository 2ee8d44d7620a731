package guava

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block returns the first code block of a kind in a page.
func block(t *testing.T, page, kind string) string {
	_, rest, found := strings.Cut(page, "\n```"+kind+"\n")
	require.True(t, found, kind)
	code, _, found := strings.Cut(rest, "```\n")
	require.True(t, found, kind)
	return code
}

// page runs the programs of docs/java.md and compares their output with the page.
func (o *oracle) page(t *testing.T) {
	page, err := os.ReadFile("../../docs/java.md")
	require.NoError(t, err)
	dir := t.TempDir()
	for name, kind := range map[string]string{"Bounces.java": "java", "main.go": "go"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(block(t, string(page), kind)), 0o600))
	}
	run := func(name string, args ...string) string {
		command := exec.Command(name, args...)
		command.Dir = dir
		command.Env = utf8Environment()
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		return string(out)
	}
	program := filepath.Join(dir, "program")
	out, err := exec.Command("go", "build", "-o", program, filepath.Join(dir, "main.go")).CombinedOutput() // here, in this module
	require.NoError(t, err, "%s", out)
	var got strings.Builder
	for line := range strings.Lines(block(t, string(page), "console")) {
		if strings.HasPrefix(line, "$ ") {
			got.WriteString(line)
		}
		switch {
		case strings.HasPrefix(line, "$ java"):
			got.WriteString(run("java", append(quickJava, "-cp", o.classPath, "Bounces.java", strings.Fields(line)[5])...))
		case strings.HasPrefix(line, "$ go"):
			got.WriteString(run(program))
		}
	}
	require.Equal(t, block(t, string(page), "console"), got.String())
}
