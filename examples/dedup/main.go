// Dedup prints each distinct line of its input once, in the order in which the lines
// first come, in the memory of a Bloom filter:
//
//	cat *.log | go run ./examples/dedup
//
// A line is out before the next one is waited for. A new line is taken for one seen
// before, and dropped, at a rate of at most -p as long as there are at most -n distinct
// ones. The command bloom dedup does the same on all cores, and more.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed3447c163/bloom"
)

func main() {
	n := flag.Uint64("n", 10_000_000, "distinct `lines` planned for")
	p := flag.Float64("p", 1e-6, "highest `rate` at which new lines may be dropped")
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
		fmt.Fprintf(os.Stderr, "dedup: about %d distinct lines, planned for %d: new ones are now dropped at a rate of %.2g\n",
			s.EstimatedCount, s.N, s.EstimatedFalsePositiveRate)
	}
}

// dedup copies the lines that are not in seen, and adds them.
func dedup(seen *bloom.BloomFilter, r io.Reader, w io.Writer) error {
	in, out := bufio.NewReaderSize(r, 1<<16), bufio.NewWriterSize(w, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && len(line) == 0 {
			return out.Flush()
		}
		line = bytes.TrimSuffix(line, []byte("\n")) // which the last one may lack
		if seen.Add(line) {                         // true: definitely new
			out.Write(line)
			out.WriteByte('\n')
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}
