package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
)

// TestMemoryOfReading: a filter in a file takes at most 1.2 times its memory to read, in every format that
// a command writes.
func TestMemoryOfReading(t *testing.T) {
	const others = 1 << 20 // of the program
	dir := t.TempDir()
	made := map[string][]string{
		"growing":  {"dedup", "--grow", "-n", "10M", "-p", "1%", "--filter", "PATH", os.DevNull},
		"rotating": {"dedup", "--window", "1h", "-n", "10M", "-p", "1%", "--filter", "PATH", os.DevNull},
	}
	for _, name := range filterfile.Names() {
		made[name] = []string{"build", "-n", "10M", "-p", "1%", "--format", name, "-o", "PATH", os.DevNull}
	}
	for name, args := range made {
		path := filepath.Join(dir, name)
		expectRun(t, statusFound, strings.Split(strings.ReplaceAll(strings.Join(args, "\n"), "PATH", path), "\n")...)
		var before, after runtime.MemStats
		var out strings.Builder
		runtime.ReadMemStats(&before)
		run(t.Context(), []string{"info", "--json", path}, nil, &out, io.Discard)
		runtime.ReadMemStats(&after)
		var told struct {
			Bytes uint64 `json:"size_bytes"`
		}
		if err := json.Unmarshal([]byte(out.String()), &told); err != nil || told.Bytes < 1<<20 {
			t.Fatalf("%s: %q, %v", name, &out, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; float64(took) > 1.2*float64(told.Bytes)+others {
			t.Errorf("%s: %d bytes are allocated for a filter of %d", name, took, told.Bytes)
		}
	}
}
