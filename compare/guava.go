package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// guavaProgram measures Guava's filter as measure.go does ours: the same keys, in
// chunks of the same size. It reads jobs and writes outcomes, a line each, so that
// the JVM, warmed up, takes its turn among the others.
//
//go:embed testdata/Guava.java
var guavaProgram []byte

// guavaJars are where Debian's libguava-java puts Guava and the small library it
// needs.
var guavaJars = []string{"/usr/share/java/guava.jar", "/usr/share/java/failureaccess.jar"}

// guava is a running JVM.
type guava struct {
	cmd     *exec.Cmd
	dir     string // of the program's source
	in      io.WriteCloser
	out     *bufio.Reader
	version string
}

// startGuava starts the JVM. The error says what is missing to do so.
func startGuava() (*guava, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, errors.New("no java is installed")
	}
	var jars []string
	for _, jar := range guavaJars {
		if _, err := os.Stat(jar); err == nil {
			jars = append(jars, jar)
		}
	}
	if len(jars) == 0 || jars[0] != guavaJars[0] {
		return nil, fmt.Errorf("there is no %s (Debian's libguava-java)", guavaJars[0])
	}
	dir, err := os.MkdirTemp("", "compare-guava")
	if err != nil {
		return nil, err
	}
	g := &guava{dir: dir}
	if err := g.start(java, jars); err != nil {
		g.stop()
		return nil, fmt.Errorf("its program does not run here: %w", err)
	}
	return g, nil
}

func (g *guava) start(java string, jars []string) error {
	source := filepath.Join(g.dir, "Guava.java")
	if err := os.WriteFile(source, guavaProgram, 0o600); err != nil {
		return err
	}
	g.cmd = exec.Command(java, "-cp", strings.Join(jars, string(os.PathListSeparator)), source)
	g.cmd.Stderr = os.Stderr
	var err error
	if g.in, err = g.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	g.out = bufio.NewReader(out)
	if err := g.cmd.Start(); err != nil {
		return err
	}
	line, err := g.out.ReadString('\n') // when it is ready, which takes a few seconds
	if err != nil {
		return err
	}
	g.version = strings.TrimSpace(line)
	return nil
}

func (g *guava) peer() *peer {
	return &peer{
		name: "Guava (JVM)", module: "com.google.guava", version: g.version,
		hash: "Murmur3 (own)", safe: safeFull, runner: g,
	}
}

func (g *guava) measure(j job) (o outcome, err error) {
	_, err = fmt.Fprintf(g.in, "%d %g %d %d %d %d %d\n", j.n, j.p, j.round, j.fills, j.probes, j.misses, j.workers)
	if err != nil {
		return o, fmt.Errorf("guava: %w", err)
	}
	line, err := g.out.ReadString('\n')
	if err != nil {
		return o, fmt.Errorf("guava: %w", err)
	}
	fields := []any{&o.bits, &o.yes, &o.misses}
	for _, t := range []*times{&o.one, &o.all} {
		for op := range opMixed { // which it does not measure
			fields = append(fields, &t[op])
		}
		t[opMixed] = math.NaN()
	}
	if _, err := fmt.Sscan(line, fields...); err != nil {
		return o, fmt.Errorf("guava answered %q: %w", line, err)
	}
	return o, nil
}

// stop ends the JVM: its input's end is its sign.
func (g *guava) stop() {
	if g.in != nil {
		_ = g.in.Close()
	}
	if g.cmd != nil && g.cmd.Process != nil {
		_ = g.cmd.Wait() // however it ends, all its outcomes are here
	}
	_ = os.RemoveAll(g.dir)
}
