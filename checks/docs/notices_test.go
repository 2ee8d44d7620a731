package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(md|txt))?$`)

// TestThirdPartyNotices compares cmd/THIRD_PARTY_NOTICES with the licences of all modules in the command, for every
// system that releases are built for.
func TestThirdPartyNotices(t *testing.T) {
	dirs := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}")
		cmd.Dir = filepath.Join(root, "cmd", "bloom")
		cmd.Env = append(os.Environ(), "GOWORK=", "GOOS="+system)
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if !strings.HasPrefix(name, modulePath) && name != "" {
				dirs[name] = dir
			}
		}
	}
	var b strings.Builder
	b.WriteString("The command bloom contains the following software.\n")
	section := func(name, text string) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), name, strings.TrimSpace(text))
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	section("The Go runtime and standard library", licences(t, strings.TrimSpace(string(goroot))))
	rapidhash, err := os.ReadFile(filepath.Join(root, "internal", "rapidhash", "rapidhash.go"))
	require.NoError(t, err)
	notice := regexp.MustCompile(`(?s)/\*\n(.*?)\*/`).FindStringSubmatch(string(rapidhash))
	require.NotNil(t, notice, "internal/rapidhash has no notice of its licence")
	section("rapidhash (internal/rapidhash is a translation)", notice[1])
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		section(name, licences(t, dirs[name]))
	}
	testkit.Golden(t, filepath.Join(root, "cmd", "THIRD_PARTY_NOTICES"), []byte(b.String())) // go test ./checks/docs -run Notices -update
	t.Logf("%d modules", len(dirs))
}

// licences returns the texts in a module's folder.
func licences(t *testing.T, dir string) (text string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if licenceFile.MatchString(e.Name()) {
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			text += strings.ReplaceAll(string(content), "\r", "") + "\n"
		}
	}
	require.NotEmpty(t, text, "%s has no licence", dir)
	return text
}
