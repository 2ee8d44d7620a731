package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
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

// TestLimitOfAddressSpace: a filter for which ulimit -v leaves no room is an error, not the runtime's stacks.
func TestLimitOfAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" || testkit.RaceDetector {
		t.Skip("NOT TESTED except on Linux without the race detector: ulimit -v")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shell := `ulimit -v 3000000 && exec -a bloom "$0" build -n 3G -o "$1" -k a` // 3.8 GB
	cmd := exec.Command(testkit.Program(t, "bash", "bash"), "-c", shell, self, filepath.Join(t.TempDir(), "large"))
	said, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != statusError || !strings.HasPrefix(string(said), "bloom: filter too large: ") || strings.Count(string(said), "\n") != 1 {
		t.Errorf("%.1000s", said)
	}
}
