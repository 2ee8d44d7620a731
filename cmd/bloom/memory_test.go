package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
)

// TestMemoryOfReading: a filter in a file takes at most 1.2 times its memory to read, and one in a pipe 1.6 times, or
// 2.4 times in JSON, in every format that a command writes.
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
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		piped := 1.6
		if strings.Contains(name, "json") || name == "npm-bloom-filters" {
			piped = 2.4
		}
		for from, most := range map[string]float64{path: 1.2, "-": piped} {
			var before, after runtime.MemStats
			var out strings.Builder
			runtime.ReadMemStats(&before)
			run(t.Context(), []string{"info", "--json", from}, bufio.NewReader(file), &out, io.Discard)
			runtime.ReadMemStats(&after)
			var told struct {
				Bytes uint64 `json:"size_bytes"`
			}
			if err := json.Unmarshal([]byte(out.String()), &told); err != nil || told.Bytes < 1<<20 {
				t.Fatalf("%s: %q, %v", name, &out, err)
			}
			took := float64(after.TotalAlloc - before.TotalAlloc - others)
			if t.Logf("%s from %.1s: %.2f", name, from, took/float64(told.Bytes)); took > most*float64(told.Bytes) {
				t.Errorf("%s: %v bytes are allocated for a filter of %d", name, took, told.Bytes)
			}
		}
	}
}
