package bloom_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed3447c163/bloom"
)

// A filter goes into a file and comes back. Where a crash in the middle must not
// cost the old file, use package persist.
func ExampleRead() {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("example-%d.bloom", os.Getpid()))
	defer os.Remove(path)

	write := func(f *bloom.BloomFilter) error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if _, err := f.WriteTo(file); err != nil {
			file.Close()
			return err
		}
		return file.Close()
	}
	read := func() (*bloom.BloomFilter, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return bloom.Read(file)
	}

	f := bloom.MustNew(1_000_000, 0.01)
	f.AddString("https://go.dev/")
	if err := write(f); err != nil {
		fmt.Println(err)
		return
	}
	g, err := read()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.ContainsString("https://go.dev/"), g.Equal(f))
	// Output:
	// true true
}

// Several filters in one stream: each Read takes one, and io.EOF is the end.
func ExampleRead_stream() {
	var stream bytes.Buffer
	for day := range 3 {
		f := bloom.MustNew(1000, 0.01)
		f.AddString(fmt.Sprint("order-", day))
		if _, err := f.WriteTo(&stream); err != nil {
			fmt.Println(err)
			return
		}
	}
	for {
		f, err := bloom.Read(&stream)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.ContainsString("order-1"))
	}
	// Output:
	// false
	// true
	// false
}

// The secret key is not in the bytes: who reads them needs it.
func ExampleRead_key() {
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		fmt.Println(err)
		return
	}
	f := bloom.MustNew(1000, 0.01, bloom.WithKey(secret))
	f.AddString("key")
	data, err := f.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = bloom.Read(bytes.NewReader(data))
	fmt.Println(errors.Is(err, bloom.ErrIncompatible), err)
	_, err = bloom.Read(bytes.NewReader(data), bloom.WithKey([16]byte{1, 2, 3}))
	fmt.Println(err)
	g, err := bloom.Read(bytes.NewReader(data), bloom.WithKey(secret))
	fmt.Println(g.ContainsString("key"), err)
	// Output:
	// true bloom: incompatible filters: the data's hash is "siphash", want its secret key by WithKey
	// bloom: incompatible filters: the data was made with another secret key than the given one
	// true <nil>
}

// Bytes from a stranger: at most a megabyte, and damage is an error.
func ExampleWithMaxBytes() {
	f := bloom.MustNew(1_000_000, 0.01) // what the stranger sends: 1.2 MB
	var sent bytes.Buffer
	if _, err := f.WriteTo(&sent); err != nil {
		fmt.Println(err)
		return
	}
	_, err := bloom.Read(&sent, bloom.WithMaxBytes(1<<20))
	fmt.Println(err)

	_, err = bloom.Read(bytes.NewReader([]byte("not a filter")))
	fmt.Println(errors.Is(err, bloom.ErrCorrupt), err)
	// Output:
	// bloom: filter too large: m = 9592960 bits are 1199120 bytes, want at most 1048576
	// true bloom: corrupt data: it begins with "not a f", want "\x89bloom\n"
}

// In JSON a filter is a string. It can be a pointer or a value.
func ExampleBloomFilter_MarshalText() {
	type state struct {
		Page int                `json:"page"`
		Seen *bloom.BloomFilter `json:"seen"`
	}
	seen := bloom.MustNew(10, 0.01)
	seen.AddString("https://go.dev/")
	text, err := json.Marshal(state{Page: 7, Seen: seen})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))

	var resumed state
	if err := json.Unmarshal(text, &resumed); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resumed.Page, resumed.Seen.ContainsString("https://go.dev/"))
	// Output:
	// {"page":7,"seen":"iWJsb29tCgHZXaqwAw4HAIAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwAAAAAAAAAAZG91YmxlLWhhc2hpbmdtdXJtdXIzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAgAAAAAAAAAAAAAEAAAAAyWspuGHFPoc="}
	// 7 true
}
