package main

import (
	"encoding/base64"
	"io"

	"github.com/seed3447c163/bloom"
)

// newBase64Reader decodes the filter's text form; newlines are ignored.
func newBase64Reader(r io.Reader) io.Reader { return base64.NewDecoder(base64.StdEncoding, r) }

// A base64Writer writes a filter's text form and a newline, a piece at a time.
type base64Writer struct{ filter *bloom.BloomFilter }

func (b base64Writer) WriteTo(w io.Writer) (int64, error) {
	counted := &writeCounter{w: w}
	encoder := base64.NewEncoder(base64.StdEncoding, counted)
	if _, err := b.filter.WriteTo(encoder); err != nil {
		return counted.n, err
	}
	if err := encoder.Close(); err != nil {
		return counted.n, err
	}
	_, err := io.WriteString(counted, "\n")
	return counted.n, err
}

type writeCounter struct {
	w io.Writer
	n int64
}

func (c *writeCounter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
