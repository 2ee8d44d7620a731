package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// guavaProgram measures Guava's filter as measure.go does ours, on one thread: the same
// keys, in chunks of the same size. It reads jobs and writes outcomes, a line each, so that
// the JVM, warmed up, takes its turn among the others.
//
//go:embed testdata/Guava.java
var guavaProgram []byte

// guavaJars are where Debian's libguava-java puts Guava and the library that it needs.
const guavaJars = "/usr/share/java/guava.jar:/usr/share/java/failureaccess.jar"

// guava is a running JVM.
type guava struct {
	peer *filters.Peer
	stop func()
	in   io.Writer
	out  *bufio.Reader
}

// startGuava starts the JVM. The error says what is missing to do so.
func startGuava() (*guava, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, errors.New("no java is installed")
	}
	if _, err := os.Stat(strings.Split(guavaJars, ":")[0]); err != nil {
		return nil, fmt.Errorf("%w (Debian's libguava-java)", err)
	}
	dir, err := os.MkdirTemp("", "compare-guava")
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "Guava.java")
	cmd := exec.Command(java, "-cp", guavaJars, source)
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, os.WriteFile(source, guavaProgram, 0o600), cmd.Start()); err != nil {
		_ = os.RemoveAll(dir) // the error that is returned says enough
		return nil, err
	}
	g := &guava{in: in, out: bufio.NewReader(out)}
	g.stop = func() {
		_ = in.Close() // its sign to end
		_ = cmd.Wait() // however it ends, all its outcomes are here
		_ = os.RemoveAll(dir)
	}
	version, err := g.out.ReadString('\n') // when it is ready, which takes a few seconds
	if err != nil {
		g.stop()
		return nil, err
	}
	g.peer = &filters.Peer{Name: "Guava (JVM)", Module: "com.google.guava " + strings.TrimSpace(version), Hash: "Murmur3 (own)", Safe: filters.Full}
	return g, nil
}

func (g *guava) visit(j job) (o outcome, err error) {
	if _, err = fmt.Fprintf(g.in, "%d %g %d %d %d %d\n", j.n, j.p, j.round, j.fills, j.probes, j.misses); err != nil {
		return o, fmt.Errorf("guava: %w", err)
	}
	line, err := g.out.ReadString('\n')
	if err != nil {
		return o, fmt.Errorf("guava: %w", err)
	}
	fields := []any{&o.bits, &o.yes, &o.misses}
	for op := range o.one {
		fields, o.all[op] = append(fields, &o.one[op]), nan
	}
	if _, err := fmt.Sscan(line, fields...); err != nil {
		return o, fmt.Errorf("guava answered %q: %w", line, err)
	}
	return o, nil
}
