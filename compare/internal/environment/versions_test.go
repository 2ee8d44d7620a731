package environment

import (
	"runtime/debug"
	"testing"
)

func TestVersionsOf(t *testing.T) {
	got := versionsOf(&debug.BuildInfo{
		Main: debug.Module{Path: "main", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "plain", Version: "v1.2.3"},
			{Path: "folder", Version: "v0.0.0", Replace: &debug.Module{Path: "../", Version: "(devel)"}},
			{Path: "fork", Version: "v1.0.0", Replace: &debug.Module{Path: "other", Version: "v1.0.1"}},
		},
	})
	for path, want := range map[string]string{"main": "this commit", "plain": "v1.2.3", "folder": "this commit", "fork": "v1.0.1"} {
		if got[path] != want {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
	}
}
