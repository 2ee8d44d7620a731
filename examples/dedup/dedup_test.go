package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// dedup runs the program and returns what came out.
func dedup(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

// expect runs the program and wants it to succeed, print stdout and say nothing.
func expect(t *testing.T, want, stdin string, args ...string) {
	t.Helper()
	// A filter smaller than the default, which would take most of the time.
	got, stderr, status := dedup(t, stdin, append([]string{"-n", "100000"}, args...)...)
	if got != want {
		t.Errorf("dedup %q of %s: got %s, want %s", args, brief(stdin), brief(got), brief(want))
	}
	if status != 0 || stderr != "" {
		t.Errorf("dedup %q of %s: status %d, stderr %q, want 0 and none", args, brief(stdin), status, stderr)
	}
}

func brief(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%q… (%d bytes)", s[:200], len(s))
	}
	return strconv.Quote(s)
}

// reference is the program with a map in place of the filter.
func reference(delim string, inputs ...string) string {
	var out strings.Builder
	seen := map[string]bool{}
	for _, in := range inputs {
		if in == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(in, delim), delim) {
			if !seen[line] {
				seen[line] = true
				out.WriteString(line + delim)
			}
		}
	}
	return out.String()
}

func writeFile(t *testing.T, content string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSmallInputs(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\n", "\n"},
		{"\n\n\n", "\n"},
		{"b\na\nb\nc\na\n", "b\na\nc\n"},               // the order is kept
		{"a\n\nb\n\n", "a\n\nb\n"},                     // an empty line is a line
		{"a\nb", "a\nb\n"},                             // the last line gets its newline,
		{"a\nb\na", "a\nb\n"},                          // but is the same line without it
		{"a\r\na\na\r\n", "a\r\na\n"},                  // \r belongs to the line
		{"a \na\n a\n", "a \na\n a\n"},                 // and so do spaces,
		{"\x00\n\xff\xfe\n\x00\n", "\x00\n\xff\xfe\n"}, // and any bytes
	} {
		expect(t, c.want, c.in)
	}
}

func TestNUL(t *testing.T) {
	expect(t, "a\nb\x00\x00c\x00", "a\nb\x00\x00a\nb\x00\x00c", "-z")
	expect(t, "a\x00b\na\n", "a\x00b\na\na\x00b\n")
}

// Random lines, some longer than the buffer, against the map.
func TestReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 30 {
		var in strings.Builder
		for range rng.IntN(20_000) {
			switch rng.IntN(20) {
			case 0:
			case 1:
				in.WriteString(strings.Repeat("x", rng.IntN(1000)))
			default:
				in.WriteString(strconv.Itoa(rng.IntN(1000)))
			}
			in.WriteString([]string{"\n", "\n", "\n", "\r\n", "\x00", "\x00\n"}[rng.IntN(6)])
		}
		if trial%3 == 0 {
			in.WriteString("no end")
		}
		expect(t, reference("\n", in.String()), in.String())
		expect(t, reference("\x00", in.String()), in.String(), "-z")
	}
}

func TestLongLines(t *testing.T) {
	// Around every multiple of the buffer, the newline falls on either side.
	for _, size := range []int{bufferSize, 2 * bufferSize, 1 << 20} {
		for delta := -2; delta <= 2; delta++ {
			a := strings.Repeat("a", size+delta)
			b := a[:len(a)-1] + "b" // differs in the last byte only
			in := "x\n" + a + "\n\n" + b + "\nx\n" + b + "\n" + a
			expect(t, "x\n"+a+"\n\n"+b+"\n", in)
			expect(t, "x\n"+a+"\n", "x\n"+a)
		}
	}
}

func TestFiles(t *testing.T) {
	one, two := writeFile(t, "c\na\nno end"), writeFile(t, "a\nno end\nb\n")
	expect(t, "c\na\nno end\nb\n", "not read\n", one, two)
	expect(t, "c\na\nno end\nstdin\nb\n", "stdin\nc", one, "-", two)
	expect(t, "stdin\n", "stdin\n", "-", "-")
	expect(t, "stdin\n", "stdin\n")
}

func TestUnreadable(t *testing.T) {
	good, missing, dir := writeFile(t, "a\n"), filepath.Join(t.TempDir(), "missing"), t.TempDir()
	stdout, stderr, status := dedup(t, "b\n", missing, good, dir, "-")
	if stdout != "a\nb\n" || status != 1 {
		t.Errorf("got %q, status %d, want the rest and 1", stdout, status)
	}
	if lines := strings.Split(stderr, "\n"); len(lines) != 3 || !strings.Contains(lines[0], missing) || !strings.Contains(lines[1], dir) {
		t.Errorf("stderr %q, want a line each for %s and %s", stderr, missing, dir)
	}
}

// failAfter is an input that breaks.
type failAfter struct{ r io.Reader }

func (f failAfter) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = errors.New("disk on fire")
	}
	return n, err
}

func TestReadError(t *testing.T) {
	long := strings.Repeat("long", bufferSize)
	next := writeFile(t, "next\n")
	for _, c := range []struct{ in, want string }{
		{"a\nb\ncut sh", "a\nb\nnext\n"},
		{"a\nb\n" + long, "a\nb\nnext\n"},
		{"a\n", "a\nnext\n"},
	} {
		for _, in := range []io.Reader{
			failAfter{strings.NewReader(c.in)},
			failAfter{iotest.DataErrReader(strings.NewReader(c.in))}, // the error comes with the data
		} {
			var out, errs bytes.Buffer
			if status := run([]string{"-n", "1000", "-", next}, in, &out, &errs); status != 1 {
				t.Errorf("%s: status %d, want 1", brief(c.in), status)
			}
			if out.String() != c.want {
				t.Errorf("%s: got %s, want the whole lines %q", brief(c.in), brief(out.String()), c.want)
			}
			if errs.String() != "dedup: disk on fire\n" {
				t.Errorf("%s: stderr %q", brief(c.in), errs.String())
			}
		}
	}
}

// once is an input that must not be read again after its end: a terminal would
// ask for another ^D.
type once struct {
	t     *testing.T
	r     io.Reader
	ended bool
}

func (o *once) Read(p []byte) (int, error) {
	if o.ended {
		o.t.Error("read again after the end")
	}
	n, err := o.r.Read(p)
	o.ended = err == io.EOF
	return n, err
}

func TestEnd(t *testing.T) {
	for _, in := range []string{"", "a", "a\n", "a\nb", strings.Repeat("a", bufferSize), strings.Repeat("a", bufferSize+1)} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.DataErrReader(strings.NewReader(in)), iotest.OneByteReader(strings.NewReader(in))} {
			var out bytes.Buffer
			if status := run([]string{"-n", "1000"}, &once{t: t, r: r}, &out, t.Output()); status != 0 {
				t.Errorf("%s: status %d", brief(in), status)
			}
			if want := reference("\n", in); out.String() != want {
				t.Errorf("%s: got %s", brief(in), brief(out.String()))
			}
		}
	}
}

// A read error in the last input, right after its data.
func TestReadErrorAtTheEnd(t *testing.T) {
	var out bytes.Buffer
	in := failAfter{iotest.DataErrReader(strings.NewReader("a\nb\n"))}
	if status := run([]string{"-n", "1000"}, in, &out, io.Discard); status != 1 || out.String() != "a\nb\n" {
		t.Errorf("status %d, got %q", status, out.String())
	}
}

// fullDisk is an output that fails, and counts how often it was tried.
type fullDisk struct {
	err   error
	tries int
}

func (d *fullDisk) Write([]byte) (int, error) { d.tries++; return 0, d.err }

func TestWriteError(t *testing.T) {
	next := writeFile(t, "next\n")
	for _, c := range []struct {
		err    error
		in     string
		status int
		stderr string
	}{
		{syscall.ENOSPC, "a\n", 1, "dedup: no space left on device\n"},                      // seen by the flush
		{syscall.ENOSPC, strings.Repeat("a", 3<<20), 1, "dedup: no space left on device\n"}, // seen by the write
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, "a\n", 0, ""},          // | head
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, "a\nb\nc\n", 0, ""},    // no note either
	} {
		var errs bytes.Buffer
		disk := &fullDisk{err: c.err}
		status := run([]string{"-n", "1", "-", next}, strings.NewReader(c.in), disk, &errs)
		if status != c.status || errs.String() != c.stderr {
			t.Errorf("%v: status %d, stderr %q, want %d, %q", c.err, status, errs.String(), c.status, c.stderr)
		}
		if disk.tries != 1 {
			t.Errorf("%v: tried to write %d times, want 1", c.err, disk.tries)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-n 0", "n = 0"},
		{"-n -5", "-5"},
		{"-n ten", "ten"},
		{"-n 9000000000000000000", "9000000000000000000"},
		{"-p 0", "p = 0"},
		{"-p 1", "p = 1"},
		{"-p NaN", "NaN"},
		{"-p 1e-99", "1e-99"},
		{"-x", "-x"},
	} {
		stdout, stderr, status := dedup(t, "a\n", strings.Fields(c.args)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want 2 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if _, stderr, status := dedup(t, "", "-h"); status != 0 || !strings.Contains(stderr, "usage") {
		t.Errorf("-h: status %d, stderr %q", status, stderr)
	}
}

// A line is out before the next one comes in.
func TestStreaming(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		run(nil, inR, outW, io.Discard)
		outW.Close()
	}()
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(outR); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	next := func() (line string, open bool) {
		select {
		case line, open = <-lines:
			return line, open
		case <-time.After(20 * time.Second):
			t.Fatal("no line came out while the input was idle")
			panic("unreachable")
		}
	}
	for _, c := range []struct{ in, want string }{
		{"a\n", "a"},
		{"a\nb\n", "b"},
		{"c\nhalf a ", "c"}, // the whole line does not wait for the half one
		{"line\n", "half a line"},
	} {
		io.WriteString(inW, c.in)
		if got, _ := next(); got != c.want {
			t.Errorf("after %q got %q, want %q", c.in, got, c.want)
		}
	}
	inW.Close()
	if line, open := next(); open {
		t.Errorf("one line too many: %q", line)
	}
}

// numbers is the input `seq 1 n`, count lines of it, over and over if n is less.
func numbers(n, count int) []byte {
	var b []byte
	for i := range count {
		b = append(strconv.AppendInt(b, int64(i%n+1), 10), '\n')
	}
	return b
}

// With the defaults, nothing of the size of a large log is lost. The hash has a
// fixed seed: these lines come out, or don't, on every machine.
func TestDefaultsLoseNothing(t *testing.T) {
	count := 2_000_000
	if underRace() {
		count /= 20 // it makes a filter of this size 50 times slower
	}
	in := numbers(count, count)
	var out bytes.Buffer
	if status := run(nil, bytes.NewReader(in), &out, t.Output()); status != 0 {
		t.Errorf("status %d", status)
	}
	if !bytes.Equal(out.Bytes(), in) {
		t.Errorf("got %d lines, want %d", bytes.Count(out.Bytes(), []byte("\n")), count)
	}
}

// underRace reports whether the test was built with -race.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

var notePattern = regexp.MustCompile(`^dedup: more distinct lines than planned for \(-n (\d+) -p (\S+)\): printed (\d+); ` +
	`a new line is now dropped at an estimated rate of (\S+); ` +
	`expected number of distinct lines dropped so far: about (\S+); next time use -n (\d+)\n$`)

// The note's numbers are right: the true ones are known here.
func TestOutgrownNote(t *testing.T) {
	for _, c := range []struct {
		n, distinct int
		p           string
	}{
		{1000, 2000, "0.01"},
		{1000, 10_000, "0.01"},
		{10_000, 20_000, "0.0001"},
		{50_000, 75_000, "0.001"},
		{100_000, 300_000, "0.01"},
		{10_000, 20_000, "0.9"}, // fewer are printed than planned for
	} {
		name := fmt.Sprintf("n=%d p=%s distinct=%d", c.n, c.p, c.distinct)
		var out, errs bytes.Buffer
		in := numbers(c.distinct, 2*c.distinct)
		if status := run([]string{"-n", strconv.Itoa(c.n), "-p", c.p}, bytes.NewReader(in), &out, &errs); status != 0 {
			t.Errorf("%s: status %d", name, status)
		}
		m := notePattern.FindStringSubmatch(errs.String())
		if m == nil {
			t.Errorf("%s: stderr %q", name, errs.String())
			continue
		}
		printed := bytes.Count(out.Bytes(), []byte("\n"))
		if m[1] != strconv.Itoa(c.n) || m[2] != c.p || m[3] != strconv.Itoa(printed) {
			t.Errorf("%s: printed %d, said %q", name, printed, m[0])
		}
		lost := float64(c.distinct - printed)
		said, _ := strconv.ParseFloat(strings.ReplaceAll(m[5], ",", ""), 64)
		// 5 sigma of a Poisson count, and 5 % for the two digits and the estimate.
		if math.Abs(said-lost) > 5*math.Sqrt(lost)+0.05*lost {
			t.Errorf("%s: said that %v were lost, it was %v", name, said, lost)
		}
		rate, _ := strconv.ParseFloat(m[4], 64)
		if p, _ := strconv.ParseFloat(c.p, 64); rate <= p || rate > 1 {
			t.Errorf("%s: rate %v, want above p", name, rate)
		}
		if next, _ := strconv.Atoi(m[6]); next < c.distinct || float64(next) > 1.3*float64(c.distinct) {
			t.Errorf("%s: next time -n %d, want a little above %d", name, next, c.distinct)
		}
		// The advice helps.
		expectSilence(t, in, "-n", m[6], "-p", c.p)
	}
}

func expectSilence(t *testing.T, in []byte, args ...string) {
	t.Helper()
	var errs bytes.Buffer
	if run(args, bytes.NewReader(in), io.Discard, &errs); errs.Len() > 0 {
		t.Errorf("dedup %q: stderr %q, want none", args, errs.String())
	}
}

func TestNoNote(t *testing.T) {
	for _, p := range []string{"1e-6", "0.01", "0.5"} {
		for _, n := range []int{1, 2, 100, 10_000} {
			expectSilence(t, numbers(n, 5*n), "-n", strconv.Itoa(n), "-p", p)
		}
	}
}

func TestFullNote(t *testing.T) {
	_, stderr, status := dedup(t, string(numbers(5000, 5000)), "-n", "10", "-p", "0.5")
	if status != 0 || !strings.Contains(stderr, "filter was full") || !strings.Contains(stderr, "-n 5000,") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

func TestNumbersInNotes(t *testing.T) {
	for x, want := range map[float64]string{0.00123: "0.0012", 0.5: "0.5", 7.04: "7", 99.7: "100", 1234: "1,200", 1e6: "1,000,000"} {
		if got := about(x); got != want {
			t.Errorf("about(%v) = %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]float64{1: 1, 9.5: 10, 10: 10, 101: 110, 123_456: 130_000} {
		if got := roundUp(x); got != want {
			t.Errorf("roundUp(%v) = %v, want %v", x, got, want)
		}
	}
}

// A hundred times the lines, new ones and others, take as many allocations.
func TestAllocations(t *testing.T) {
	allocs := func(in []byte) float64 {
		return testing.AllocsPerRun(3, func() {
			run([]string{"-n", "50000"}, bytes.NewReader(in), io.Discard, io.Discard)
		})
	}
	if few, many := allocs(numbers(500, 1000)), allocs(numbers(50_000, 100_000)); many > few+10 {
		t.Errorf("%v allocations for 100,000 lines, %v for 1,000", many, few)
	}
}
