package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/persist"
)

// TestFields: every command that reads keys takes the same fields as keys, of any input and in any pieces. A line
// without the field has no key: dedup prints it, build and add skip it, and check prints it with no flag. One
// warning names the first such line. If no line has the field, the command fails, and writes no filter.
func TestFields(t *testing.T) {
	type line struct{ text, key string }
	const none = "no key"
	tests := map[string][]line{
		`-f 2`:             {{"a 1 x", "1"}, {" b\t 2", "2"}, {"c", none}, {"d 1 y", "1"}, {"", none}},
		`-f 2-`:            {{"12:00:01 disk full", "disk full"}, {"12:00:02  disk full", "disk full"}, {"12:00:03", none}, {"x disk full ", "disk full "}},
		`-f 2 -d \t`:       {{"a\t1 x\tb", "1 x"}, {"no tab", none}, {"a\t\tb", ""}, {`a\t1 x\tb`, none}, {"c\t1 x", "1 x"}},
		`-f 2- -d \t`:      {{"a\t1\tb", "1\tb"}, {"a\t1\tc", "1\tc"}, {"b\t1\tc", "1\tc"}, {"no tab", none}},
		`-f 3 -d \\`:       {{`C:\Users\me`, "me"}, {`D:\Users\me\x`, "me"}, {`C:/Users/me`, none}},
		`-f 2 -d \0`:       {{"a\x00b", "b"}, {"a0c", none}, {"c\x00b\x00", "b"}},
		`-f 2 -d \x3A\x3a`: {{"a::b:c", "b:c"}, {"a:b", none}, {`d\x3A\x3ae`, none}},
		`-f 1 -d ,`:        {{"a,b", "a"}, {"a", none}, {"", none}, {",", ""}},
		`-f 9`:             {{"a b", none}, {"", none}, {"c", none}},
		`-f 2 -d ;`:        {{"a,b", none}, {"c,d", none}},
	}
	dir := t.TempDir()
	for flags, lines := range tests {
		var first, second, keyed, others strings.Builder // the input, in two files, and its lines
		var keys []string                                // -k of each
		missing, firstMissing, fresh := 0, "", ""
		for i, l := range lines {
			to, name := &first, "first: line "
			if i == len(lines)-1 {
				to, name = &second, "second: line "
			}
			to.WriteString(l.text + "\n")
			switch {
			case l.key == none:
				if missing++; missing == 1 {
					firstMissing = name + string('1'+rune(i%(len(lines)-1))) + ": no field " + flags[3:4]
				}
				others.WriteString(l.text + "\n")
			default:
				keyed.WriteString(l.text + "\n")
				if slices.Contains(keys, l.key) {
					continue
				}
				keys = append(keys, "-k", l.key)
			}
			fresh += l.text + "\n"
		}
		files := []string{filepath.Join(dir, "first"), filepath.Join(dir, "second")}
		for i, text := range []string{first.String(), second.String()} {
			if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		wantStatus := statusFound
		if keys == nil {
			wantStatus = statusError
		}
		build := []string{"build", "-q", "--force", "-n", "100", "-p", "1e-9", "-o"}
		want, empty, got := filepath.Join(dir, "want"), filepath.Join(dir, "empty"), filepath.Join(dir, "got")
		expectRun(t, statusFound, slices.Concat(build, []string{empty, os.DevNull})...)
		expectRun(t, statusFound, slices.Concat(build, []string{want}, or(keys, os.DevNull))...)
		run := func(status int, output string, args ...string) {
			t.Helper()
			args = slices.Concat(strings.Fields(flags), args, files)
			out, said := expectRun(t, status, args...)
			if out != output {
				t.Errorf("%q: %q, want %q", args, out, output)
			}
			if got := strings.Contains(said, "no line has field "+flags[3:4]); got != (status == statusError) {
				t.Errorf("%q: %s", args, said)
			}
			if counts := strings.Contains(said, " lines have no field "); counts != (missing > 1 && status != statusError) {
				t.Errorf("%q, %d lines without a key: %s", args, missing, said)
			}
			if strings.Count(said, ": line ") != min(missing, 1) || !strings.Contains(said, firstMissing) {
				t.Errorf("%q: %s, want one line with %s", args, said, firstMissing)
			}
		}
		kept := func(name string) {
			t.Helper()
			has, _ := os.ReadFile(got)
			if wanted, _ := os.ReadFile(name); !bytes.Equal(has, wanted) {
				t.Errorf("%s: another filter than in %s", flags, name)
			}
		}
		tried := 0
		for _, c := range newRoot(&env{}).Commands() {
			if c.Flags().Lookup("field") == nil {
				continue
			}
			os.Remove(got)
			tried++
			switch c.Name() {
			case "build":
				run(wantStatus, "", append(build, got)...)
				if keys == nil {
					expectRun(t, statusError, "info", got)
				} else {
					kept(want)
				}
			case "add":
				expectRun(t, statusFound, append(build, got, os.DevNull)...)
				run(wantStatus, "", "add", "-q", got)
				kept(want) // also if that is empty
			case "check":
				status := func(selected string) int { return max(wantStatus, map[bool]int{true: statusNotFound}[selected == ""]) }
				for filter, in := range map[string]string{want: keyed.String(), empty: ""} {
					out := keyed.String()[len(in):]
					run(status(in), in, "check", filter)
					run(status(out), out, "check", "-v", filter)
					if wantStatus == statusFound {
						run(status(in), string('0'+rune(strings.Count(in, "\n")))+"\n", "check", "-c", filter)
						run(status(out), string('0'+rune(strings.Count(out, "\n")))+"\n", "check", "-cv", filter)
					}
				}
			case "dedup":
				run(wantStatus, fresh, "dedup", "-q")
				args := []string{"dedup", "-q", "-n", "100", "-p", "1e-9", "--filter", got}
				run(wantStatus, fresh, args...)
				if keys == nil {
					expectRun(t, statusError, "info", got)
					expectRun(t, statusFound, append(build, got, os.DevNull)...)
					run(wantStatus, fresh, args...)
				}
				kept(want)
				if keys != nil {
					run(statusFound, others.String(), args...) // they are printed again
				}
			default:
				t.Fatalf("which arguments has bloom %s?", c.Name())
			}
		}
		if tried < 4 {
			t.Errorf("%d commands tried", tried)
		}
	}
}

// or returns all, or if there are none another.
func or(all []string, another string) []string {
	if all == nil {
		return []string{another}
	}
	return all
}

// TestEmptyInputHasNoMissingField: that no line has the field is no error where there is no line.
func TestEmptyInputHasNoMissingField(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bloom")
	expectRun(t, statusFound, "build", "-f", "2", "-n", "10", "-o", path, os.DevNull)
	expectRun(t, statusFound, "add", "-f", "2", path, os.DevNull)
	expectRun(t, statusNotFound, "check", "-f", "2", path, os.DevNull)
	expectRun(t, statusFound, "dedup", "-f", "2", os.DevNull)
}

// TestQuickAnswers: check -q ends at the first selected line, before or after one without the field.
func TestQuickAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bloom")
	expectRun(t, statusFound, "build", "-n", "10", "-p", "1e-9", "-o", path, "-k", "in")
	for text, status := range map[string]int{"no\nx in\nx out\n": 0, "x in\nno\n": 0, "x out\nno\n": 1, "no\nno\n": 2, "\n": 2, "": 1} {
		for name, pieces := range readers {
			if got := run(t.Context(), []string{"check", "-q", "-f", "2", path}, pieces(strings.NewReader(text)), io.Discard, io.Discard); got != status {
				t.Errorf("%s, %q: status %d, want %d", name, text, got, status)
			}
		}
	}
}

// TestTableOfKeys tries each row of the table in bloom help input.
func TestTableOfKeys(t *testing.T) {
	_, rows, _ := strings.Cut(inputHelp, "flags      result\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	lines := strings.Split(rows, "\n")
	if len(lines) < 17 {
		t.Fatalf("%d rows", len(lines))
	}
	for _, line := range lines {
		text, flags, result := strings.TrimSpace(line[:14]), strings.Fields(line[14:25]), line[25:]
		unquoted := func(text string) string {
			s, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatal(text, err)
			}
			return s
		}
		path := filepath.Join(t.TempDir(), "got.bloom")
		var said bytes.Buffer
		args := append([]string{"build", "-n", "10", "-p", "1e-9", "-o", path}, flags...)
		status := run(t.Context(), args, strings.NewReader(unquoted(text)), io.Discard, &said)
		key, warned := strings.CutSuffix(result, ", warned of")
		key, isKey := strings.CutPrefix(key, "key ")
		switch {
		case !isKey:
			if _, missing := os.Stat(path); status != statusError || missing == nil || result == "no key" != strings.Contains(said.String(), ": no field ") {
				t.Errorf("%s: status %d, %s", line, status, &said)
			}
		default:
			f, err := persist.Load(path)
			if err != nil || !f.ContainsString(unquoted(key)) || !strings.Contains(said.String(), "1 key read") || strings.Contains(said.String(), "warning") != warned {
				t.Errorf("%s: status %d, %s, %v", line, status, &said, err)
			}
		}
	}
}
