package compare

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// guavaJars are where Debian's libguava-java puts Guava and what it needs.
const guavaJars = "/usr/share/java/guava.jar:/usr/share/java/failureaccess.jar"

// BenchmarkGuava measures Guava's filter on a JVM of its own, which takes the time. The rows
// belong to those of BenchmarkFilter.
func BenchmarkGuava(b *testing.B) {
	java, err := exec.LookPath("java")
	if _, noJar := os.Stat("/usr/share/java/guava.jar"); err != nil || noJar != nil {
		b.Skip("NOT MEASURED: Guava needs java and libguava-java")
	}
	cmd := exec.Command(java, "-cp", guavaJars, "testdata/Guava.java")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close() // the program ends
	out := bufio.NewScanner(pipe)
	if !out.Scan() || out.Text() != "ready" {
		b.Fatalf("Guava.java printed %q, want ready", out.Text())
	}
	for _, op := range operations {
		b.Run(fmt.Sprintf("filter=Guava-(JVM)/op=%s/goroutines=1", op), func(b *testing.B) {
			fmt.Fprintln(in, op, 10_000, p, b.N)
			if !out.Scan() {
				b.Fatal(io.ErrUnexpectedEOF)
			}
			b.ReportMetric(float64(atoi(out.Text()))/float64(b.N), "ns/op")
		})
	}
}
