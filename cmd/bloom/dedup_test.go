package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/persist"
)

// TestDedupEndsWithItsOutput: after a write error it does not wait for input.
func TestDedupEndsWithItsOutput(t *testing.T) {
	inRead, in := io.Pipe()
	defer in.Close()
	go io.WriteString(in, "key\n") // and no end
	var said bytes.Buffer
	if status := run(t.Context(), []string{"dedup", "-n", "1000"}, inRead, &fullDisk{}, &said); status != statusError || !strings.Contains(said.String(), "the disk is full") {
		t.Errorf("status %d, %s", status, &said)
	}
}

// TestDedupIsSequential: output and kept filter are those of one key after the other, in filters so
// full that many keys are dropped.
func TestDedupIsSequential(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 50_000 {
		fmt.Fprintln(&text, rng.IntN(30_000))
	}
	for i, s := range slices.Concat(bloom.Strategies(), filterfile.Strategies()) {
		f, err := bloom.New(30_000, 0.3, bloom.WithStrategy(s))
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for line := range strings.Lines(text.String()) {
			if f.AddString(strings.TrimSuffix(line, "\n")) {
				want.WriteString(line)
			}
		}
		for name, pieces := range readers {
			if name == "bytes" && i > 0 {
				continue // the slowest; how the input is read does not depend on the strategy
			}
			path := filepath.Join(t.TempDir(), "seen.bloom")
			var out, said bytes.Buffer
			args := []string{"dedup", "-n", "30000", "-p", "0.3", "-s", s.Name(), "--filter", path}
			if !s.NeedsKey() {
				args = append(args, "--hash", "murmur3")
			}
			status := run(t.Context(), args, pieces(strings.NewReader(text.String())), &out, &said)
			if status != statusFound || out.String() != want.String() {
				t.Errorf("%v, %s: status %d, %d bytes, want %d: %s", s, name, status, out.Len(), want.Len(), &said)
			}
			if kept, err := persist.Load(path, bloom.WithStrategy(s)); err != nil || !kept.Equal(f) {
				t.Errorf("%v, %s: %v, another filter is kept", s, name, err)
			}
		}
	}
}

// TestStopsAtTheSameKey, whatever the pieces of the input.
func TestStopsAtTheSameKey(t *testing.T) {
	var keys, want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&keys, "%d\n%d\n", i, i/2)
	}
	for i := range 100 {
		fmt.Fprintln(&want, i)
	}
	for name, pieces := range readers {
		var out, said bytes.Buffer
		status := run(t.Context(), []string{"dedup", "-n", "100", "-p", "1e-9"}, pieces(strings.NewReader(keys.String())), &out, &said)
		if status != statusOverfull || out.String() != want.String() || !strings.Contains(said.String(), "line 201: overfull: a new key") {
			t.Errorf("%s: status %d, %d lines, %s", name, status, strings.Count(out.String(), "\n"), &said)
		}
	}
}

// FuzzDedup compares the lines that dedup prints with those of a model.
func FuzzDedup(f *testing.F) {
	f.Add("12:00:01 disk full\n12:00:02 disk full\n\n at main.go:7\n12:00:02  disk full\n", uint16(2), true, "")
	f.Add("1\ta b\n2\ta b\n\t\nnone\n3\ta\r\nlast\ta", uint16(2), false, "\t")
	f.Add("a,,b\nc,,b\nd,\n,\ne\n", uint16(2), true, ",")
	f.Add("a::b\na:::b\na::::b\nx\ty z\nx  y z ", uint16(3), false, "::")
	f.Add("\xff \xfe\n\xff \xfe\n\\t\\x41", uint16(1), false, "")
	f.Add("\x00 b\n\x00 b\n\\t\x00\\x41", uint16(1), false, "")
	f.Add("0", uint16(1), true, "0")
	f.Fuzz(func(t *testing.T, text string, field uint16, toEnd bool, delimiter string) {
		if strings.Contains(text, "\x00") && !utf8.ValidString(text) {
			return // refused as no text
		}
		text = "\n" + text // a file of another kind does not begin so
		args := []string{"dedup", "-q", "-n", "10000", "-p", "1e-12"}
		if field %= 50; field > 0 {
			args = append(args, "-f", strconv.Itoa(int(field))+map[bool]string{true: "-"}[toEnd])
		}
		if field > 0 && delimiter != "" {
			args = append(args, "-d", strings.NewReplacer(`\`, `\\`, "\x00", `\0`, "\t", `\t`, "\n", `\x0A`).Replace(delimiter))
		}
		var want strings.Builder
		seen, wantStatus := map[string]bool{}, statusError
		blank := regexp.MustCompile(fmt.Sprintf(`(?s)^[ \t]*(?:[^ \t]+[ \t]+){%d}([^ \t]+)(.*)$`, max(field, 1)-1))
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			key, rest, found := line, "", true
			if field > 0 && delimiter == "" {
				parts := append(blank.FindStringSubmatch(line), "", "", "")
				key, rest, found = parts[1], parts[2], parts[0] != ""
			} else if parts := strings.SplitN(line, delimiter, int(field)); field > 0 {
				before, _, _ := strings.Cut(parts[len(parts)-1], delimiter)
				key, rest, found = before, parts[len(parts)-1][len(before):], len(parts) == int(field) && strings.Contains(line, delimiter)
			}
			if toEnd {
				key += rest
			}
			if !found || !seen[key] {
				want.WriteString(line + "\n")
			}
			if found {
				seen[key], wantStatus = true, statusFound
			}
		}
		var out, said bytes.Buffer
		status := run(t.Context(), args, iotest.HalfReader(strings.NewReader(text)), &out, &said)
		if status != wantStatus || out.String() != want.String() {
			t.Errorf("%q of %q: status %d, want %d; %q, want %q; %s", args, text, status, wantStatus, &out, &want, &said)
		}
	})
}

// TestFullFilterIsSaved: a filter without room for a new key is saved with the keys of the printed lines, and no other,
// as after any run. The next run prints none of them, and stops at the same line.
func TestFullFilterIsSaved(t *testing.T) {
	var keys strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, "%d\n%d\n", i, i/2)
	}
	input := writeFile(t, []byte(keys.String()))
	for _, flags := range []string{"-n 5000", "-n 100 --grow --max-memory 20kB", "-n 100 --window 1h --max-memory 20kB"} {
		path := filepath.Join(t.TempDir(), "seen.bloom")
		args := append([]string{"dedup", "-q", "-p", "1e-9", "--filter", path}, strings.Fields(flags)...)
		printed, first := expectRun(t, statusOverfull, append(args, input)...)
		n := strings.Count(printed, "\n")
		if n == 0 || !strings.HasSuffix(printed, fmt.Sprintf("\n%d\n", n-1)) {
			t.Fatalf("%s: %d lines, and not the first ones: %s", flags, n, first)
		}
		if got, _ := expectRun(t, statusFound, "check", "-v", path, input); got == "" || !strings.HasPrefix(got, fmt.Sprintf("%d\n", n)) {
			t.Errorf("%s: after %d lines the first that is not in is %.20q", flags, n, got)
		}
		if got, _ := expectRun(t, statusFound, "check", "-c", path, writeFile(t, []byte(printed))); got != fmt.Sprintln(n) {
			t.Errorf("%s: %s of %d printed lines are in", flags, got, n)
		}
		again, second := expectRun(t, statusOverfull, append(args, input)...)
		if again != "" || second != strings.TrimPrefix(first, first[:strings.Index(first, "\n")+1]) {
			t.Errorf("%s: again %d lines, %s, want %s", flags, strings.Count(again, "\n"), second, first)
		}
	}
}
