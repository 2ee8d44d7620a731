// Dedup prints each distinct line of standard input once, in the order of first occurrence, in
// the memory of a Bloom filter:
//
//	cat *.log | go run ./examples/dedup
//
// It prints each line before it waits for more input. With at most -n distinct lines it drops one
// new line in a million, whoever wrote them: MapHash has a random seed. The command bloom dedup
// does the same on all cores.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/seed3447c163/bloom"
)

func main() {
	n := flag.Uint64("n", 10_000_000, "planned `number` of distinct lines")
	flag.Parse()
	if err := run(*n, os.Stdin, os.Stdout, os.Stderr); err != nil {
		log.Fatal("dedup: ", err)
	}
}

func run(n uint64, r io.Reader, w, warnings io.Writer) error {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	in := bufio.NewReaderSize(flushing{r, out}, 1<<16)
	for err == nil {
		var line []byte
		line, err = in.ReadBytes('\n')
		if err == nil || err == io.EOF && len(line) > 0 { // the last line may lack its newline
			if line = bytes.TrimSuffix(line, []byte("\n")); seen.Add(line) {
				out.Write(line)
				out.WriteByte('\n')
			}
		}
	}
	if s := seen.Stats(); s.Load() > 1.05 { // the load is an estimate
		fmt.Fprintf(warnings, "dedup: about %d distinct lines, planned for %d: the last ones were dropped at a rate of %.2g\n",
			s.EstimatedCount, s.N, s.EstimatedFalsePositiveRate)
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, out.Flush())
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
