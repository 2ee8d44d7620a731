package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// loadMapped reads a filter of persist.Open, which other programs may be using. Its
// parameters, strategy and seed are those that the header names; opts may have the key.
func loadMapped(path string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	if path == "-" {
		return nil, fmt.Errorf("a memory-mapped filter on standard input, want its file's name")
	}
	file, err := persist.OpenReadOnly(path, opts...)
	if err != nil {
		return nil, hint(err)
	}
	f := file.Snapshot()
	return f, file.Close()
}

// mappedScheme returns the scheme of a mapped filter, which stands in its header as it
// begins a stream.
func mappedScheme(head []byte) io.Reader {
	const schemeAt = 64
	return bytes.NewReader(head[min(schemeAt, len(head)):])
}
