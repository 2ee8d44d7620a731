package main

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
)

// bufferSize is that of the input buffer and of the output buffer. A line that
// does not fit is put together in memory of its own.
const bufferSize = 256 << 10

// A deduper copies lines that it has not seen before. It is not safe for
// concurrent use.
type deduper struct {
	filter *bloom.BloomFilter
	delim  byte
	in     *bufio.Reader
	out    *bufio.Writer
	long   []byte // the line at hand, if it does not fit in the input buffer
	now    counts
	shown  *progress
}

// counts is what has happened so far.
type counts struct {
	bytes   int64
	lines   uint64
	printed uint64
}

func newDeduper(filter *bloom.BloomFilter, w io.Writer, shown *progress) *deduper {
	return &deduper{
		filter: filter,
		delim:  '\n',
		in:     bufio.NewReaderSize(nil, bufferSize),
		out:    bufio.NewWriterSize(w, bufferSize),
		shown:  shown,
	}
}

// A writeError is an error of the output, after which reading on is pointless.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// copy prints the new lines of r until its end, and has written them out when it
// returns. A line that is cut short by a read error is no line, and not printed.
func (d *deduper) copy(r io.Reader) error {
	d.in.Reset(source{r, d})
	for {
		line, err := d.in.ReadSlice(d.delim)
		if err == bufio.ErrBufferFull {
			d.long = append(d.long, line...)
			continue
		}
		if len(d.long) > 0 {
			line = append(d.long, line...)
			d.long = line[:0]
		}
		if err == nil {
			line = line[:len(line)-1] // the key is without it: the last line may lack it
		}
		if err == nil || err == io.EOF && len(line) > 0 {
			if err := d.line(line); err != nil {
				return err
			}
		}
		if err != nil {
			return d.end(err)
		}
	}
}

// end writes out what there is, after the input ended with err.
func (d *deduper) end(err error) error {
	if err := d.flush(); err != nil {
		return err
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// line prints one line, given without its end, if it is new.
func (d *deduper) line(line []byte) error {
	d.now.lines++
	if !d.filter.Add(line) {
		return nil
	}
	d.now.printed++
	d.out.Write(line)
	if err := d.out.WriteByte(d.delim); err != nil { // also an error of Write: it sticks
		return writeError{err}
	}
	return nil
}

func (d *deduper) flush() error {
	if err := d.out.Flush(); err != nil {
		return writeError{err}
	}
	return nil
}

// A source is an input as its deduper's buffer sees it. The buffer reads when it
// has no whole line left, which is the only time the program can be made to wait:
// flushing just then means that no line waits for the next, at the price of one
// write for each read.
type source struct {
	r io.Reader
	d *deduper
}

func (s source) Read(p []byte) (int, error) {
	if err := s.d.flush(); err != nil {
		return 0, err
	}
	s.d.shown.set(s.d.now)
	n, err := s.r.Read(p)
	s.d.now.bytes += int64(n)
	return n, err
}

// note says what became of the promise if there were more distinct lines than
// the filter was made for, and is empty if there were not.
func (d *deduper) note() string {
	params := d.filter.Params()
	if d.now.lines <= params.N {
		return ""
	}
	lost, full := d.lost()
	distinct := float64(d.now.printed) + lost
	// Dropped lines count too: with p near 1, most are dropped before n are
	// printed. Their number is an estimate, whose noise must not cry wolf at n.
	if d.now.printed <= params.N && distinct <= 1.1*float64(params.N) {
		return ""
	}
	promise := fmt.Sprintf("more distinct lines than planned for (-n %d -p %v): printed %d",
		params.N, params.P, d.now.printed)
	if full {
		return fmt.Sprintf("%s, then the filter was full and every new line was dropped, how many cannot be told; next time use -n %d, the number of lines read",
			promise, d.now.lines)
	}
	// 5 % more than the estimate, for its noise.
	return fmt.Sprintf("%s; a new line is now dropped at an estimated rate of %.2g; expected number of distinct lines dropped so far: about %s; next time use -n %.0f",
		promise, d.filter.EstimatedFalsePositiveRate(), about(lost), roundUp(1.05*distinct))
}

// lost returns the expected number of distinct lines that were taken for others
// and dropped: the sum, over the distinct lines offered, of the rate at which the
// filter as it then was takes a new line for an old one. How many were offered is
// read off the bits that are set: a line is dropped because all its bits were set
// already, so that leaving it out changes nothing. A full filter cannot tell.
//
// The sum takes the rate as constant over 1/1000 of the lines at a time, and as
// [bloom.FalsePositiveRate] has it.
func (d *deduper) lost() (lines float64, full bool) {
	offered := d.filter.EstimatedCount()
	if offered == math.MaxUint64 {
		return math.Inf(1), true
	}
	params := d.filter.Params()
	step := max(1, offered/1000)
	for from := uint64(0); from < offered; from += step {
		width := min(step, offered-from)
		lines += float64(width) * bloom.FalsePositiveRate(params.M, params.K, from+width/2)
	}
	return lines, false
}

// about prints an estimate with two significant digits.
func about(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	unit := math.Pow10(int(math.Log10(x)) - 1)
	return humanize.Comma(int64(math.Round(x/unit) * unit))
}

// roundUp rounds up to two significant digits.
func roundUp(x float64) float64 {
	unit := math.Pow10(max(0, int(math.Log10(x))-1))
	return math.Ceil(x/unit) * unit
}
