// Dedup prints each distinct line of standard input once, in the order of first occurrence, in
// the memory of a Bloom filter:
//
//	cat *.log | go run ./examples/dedup
//
// It prints each line before it waits for more input. With at most -n distinct lines it drops new
// ones at a rate of at most -p. The command bloom dedup does the same on all cores.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed3447c163/bloom"
)

func main() {
	n := flag.Uint64("n", 10_000_000, "planned `number` of distinct lines")
	p := flag.Float64("p", 1e-6, "highest `rate` of dropped new lines")
	flag.Parse()
	seen, err := bloom.New(*n, *p)
	if err == nil {
		err = dedup(seen, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dedup:", err)
		os.Exit(1)
	}
	if s := seen.Stats(); s.Load() > 1.05 { // the load is an estimate
		fmt.Fprintf(os.Stderr, "dedup: about %d distinct lines, planned for %d: new ones are dropped at a rate of %.2g\n",
			s.EstimatedCount, s.N, s.EstimatedFalsePositiveRate)
	}
}

// dedup copies the lines that are not in seen, and adds them.
func dedup(seen *bloom.BloomFilter, r io.Reader, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	in := bufio.NewReaderSize(flushing{r, out}, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err == nil || err == io.EOF && len(line) > 0 { // the last line may lack its newline
			if line = bytes.TrimSuffix(line, []byte("\n")); seen.Add(line) {
				out.Write(line)
				out.WriteByte('\n')
			}
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
	}
}

// A flushing reader writes all output before it waits for input.
type flushing struct {
	io.Reader
	out *bufio.Writer
}

func (f flushing) Read(p []byte) (int, error) {
	if err := f.out.Flush(); err != nil {
		return 0, err
	}
	return f.Reader.Read(p)
}
