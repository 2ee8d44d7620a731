package bloom

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/format"
)

var fileMiB = flag.Int("mib", 64, "size in MiB of the largest filter that is written and read in benchmarks")

func benchFilter(b *testing.B, bytes int) *BloomFilter {
	f, err := NewWithParams(Params{M: uint64(bytes) * 8, K: 7})
	if err != nil {
		b.Fatal(err)
	}
	for i := range f.bits {
		f.bits[i].Store(mix(uint64(i)))
	}
	return f
}

// copyTo is what WriteTo is compared with: the bytes as they are, in the same
// chunks, with no checksum.
func copyTo(w io.Writer, raw []byte) error {
	for ; len(raw) > 0; raw = raw[min(len(raw), format.ChunkBytes):] {
		if _, err := w.Write(raw[:min(len(raw), format.ChunkBytes)]); err != nil {
			return err
		}
	}
	return nil
}

// memoryOf views the words as bytes.
func memoryOf(f *BloomFilter) []byte {
	return unsafe.Slice((*byte)(f.bits.start()), len(f.bits)*8)
}

// roomWriter is a writer that copies into memory that is there.
type roomWriter struct {
	buf []byte
	at  int
}

func (m *roomWriter) Write(p []byte) (int, error) {
	m.at += copy(m.buf[m.at:], p)
	return len(p), nil
}

func fileSizes() []int { return []int{1 << 10, 1 << 20, *fileMiB << 20} }

func BenchmarkWriteTo(b *testing.B) {
	for _, size := range fileSizes() {
		f := benchFilter(b, size)
		room := make([]byte, encodedBytes(f))
		clear(room)
		run := func(to, by string, once func() error) {
			b.Run(fmt.Sprintf("to=%s/bytes=%d/by=%s", to, size, by), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := once(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("memory", "copy", func() error { return copyTo(&roomWriter{buf: room}, memoryOf(f)) })
		run("memory", "WriteTo", func() error { _, err := f.WriteTo(&roomWriter{buf: room}); return err })
		run("memory", "MarshalBinary", func() error { _, err := f.MarshalBinary(); return err })
		{
			path := filepath.Join(b.TempDir(), "filter")
			into := func(write func(w io.Writer) error) func() error {
				return func() error {
					file, err := os.Create(path)
					if err != nil {
						return err
					}
					if err := write(file); err != nil {
						return err
					}
					return file.Close()
				}
			}
			run("file", "copy", into(func(w io.Writer) error { return copyTo(w, memoryOf(f)) }))
			run("file", "WriteTo", into(func(w io.Writer) error { _, err := f.WriteTo(w); return err }))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, size := range fileSizes() {
		data, err := benchFilter(b, size).MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(b.TempDir(), "filter")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			b.Fatal(err)
		}
		run := func(from, by string, once func() error) {
			b.Run(fmt.Sprintf("from=%s/bytes=%d/by=%s", from, size, by), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := once(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("memory", "copy", func() error { bytes.Clone(data); return nil })
		run("memory", "Read", func() error { _, err := Read(bytes.NewReader(data)); return err })
		run("stream", "Read", func() error { _, err := Read(io.MultiReader(bytes.NewReader(data))); return err })
		run("file", "ReadFile", func() error { _, err := os.ReadFile(path); return err })
		run("file", "Read", func() error {
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = Read(file)
			return err
		})
	}
}
