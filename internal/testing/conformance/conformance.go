// Package conformance tests encodings: the module's own formats and those of other systems.
package conformance

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// A Format is an encoding of values.
type Format struct {
	Values []io.WriterTo // the first one should be small, because tests damage each of its bytes
	Large  io.WriterTo   // more than 1 MiB; nil if the memory of reading is not bounded
	Zero   []io.WriterTo // nil and zero values: WriteTo returns an error
	Read   func(io.Reader, ...bloom.Option) (io.WriterTo, error)

	Sealed   bool // checksums detect every change of a bit
	Stream   bool // values may follow each other; at the end, Read returns io.EOF
	Version  int  // offset of a version that no checksum covers; 0 if none
	AnyError bool // errors may be those of another package, such as encoding/json
	Exact    bool // a value that was read is written as the same bytes; Sealed formats are exact
	Trusting bool // short writes without an error are not detected
	Every    int  // tests flip only bits and cut only at lengths that are multiples of it; 0 means 1
	Copies   int  // how many times its size reading a large value allocates; 0 means 1

	Earlier, Later []byte // two snapshots of one value of equal length; nil if the format is not sealed
}

// Reader makes the field Read of a Format from a function such as bloom.Read.
func Reader[F io.WriterTo](read func(io.Reader, ...bloom.Option) (F, error)) func(io.Reader, ...bloom.Option) (io.WriterTo, error) {
	return func(r io.Reader, opts ...bloom.Option) (io.WriterTo, error) { return read(r, opts...) }
}

// Whole makes the field Read of a Format from a function that takes all bytes.
func Whole(read func(data []byte) (io.WriterTo, error)) func(io.Reader, ...bloom.Option) (io.WriterTo, error) {
	return func(r io.Reader, _ ...bloom.Option) (io.WriterTo, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return read(data)
	}
}

// An Encoded is a function that returns the bytes of a value. It implements io.WriterTo.
type Encoded func() ([]byte, error)

// WriteTo writes the bytes.
func (e Encoded) WriteTo(w io.Writer) (int64, error) {
	data, err := e()
	if err != nil {
		return 0, err
	}
	return io.Copy(w, bytes.NewReader(data))
}

// Bytes returns a value whose bytes are data.
func Bytes(data []byte) Encoded { return func() ([]byte, error) { return data, nil } }

// Test tests the format.
func (f Format) Test(t *testing.T) {
	t.Helper()
	small := Written(t, f.Values[0])
	f.roundTrips(t)
	f.ends(t, small)
	f.cuts(t, small)
	f.flips(t, small)
	f.numbers(t, small)
	f.fullDisk(t, f.Values[0], len(small))
	for i, zero := range f.Zero {
		var out bytes.Buffer
		if n, err := zero.WriteTo(&out); !errors.Is(err, bloom.ErrInvalid) || n != 0 || out.Len() != 0 {
			t.Errorf("zero value %d: %d bytes, %v, want ErrInvalid", i, n, err)
		}
	}
	if f.Large != nil {
		f.memory(t)
	}
	if f.Earlier != nil {
		f.damages(t, testkit.Times(10_000, 100_000, 11_000_000))
		f.mixtures(t)
	}
}

// TestGolden is Test, and compares the bytes of the first value with a golden file. It returns the value read from the
// file.
func (f Format) TestGolden(t *testing.T, golden string) io.WriterTo {
	t.Helper()
	data := testkit.Frozen(t, golden, Written(t, f.Values[0]))
	f.Test(t)
	holds, err := f.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return holds
}

// Written returns the bytes that f writes.
func Written(t testing.TB, f io.WriterTo) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := f.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d reported, %v", b.Len(), n, err)
	}
	return b.Bytes()
}

// known reports whether err is an error that Read may return for bad bytes.
func (f Format) known(err error) bool {
	return f.AnyError || errors.Is(err, bloom.ErrCorrupt) || errors.Is(err, bloom.ErrIncompatible) || errors.Is(err, bloom.ErrTooLarge)
}

// readers wrap a reader so that it returns its bytes in different ways.
var readers = map[string]func(io.Reader) io.Reader{
	"at once":             func(r io.Reader) io.Reader { return r },
	"as a stream":         func(r io.Reader) io.Reader { return hidden{r} },
	"byte by byte":        iotest.OneByteReader,
	"half":                iotest.HalfReader,
	"data with the end":   iotest.DataErrReader,
	"halves with the end": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.HalfReader(r)) },
	"seven bytes":         func(r io.Reader) io.Reader { return atMost{r, 7} },
}

// hidden is a reader that does not tell how many bytes are left.
type hidden struct{ io.Reader }

// atMost is a reader whose Read returns at most the given number of bytes.
type atMost struct {
	io.Reader
	bytes int
}

func (r atMost) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), r.bytes)]) }

// roundTrips: however the bytes arrive, the value that is read is written as the same bytes.
func (f Format) roundTrips(t *testing.T) {
	for i, v := range f.Values {
		data := Written(t, v)
		for how, reader := range readers {
			got, err := f.Read(reader(bytes.NewReader(data)))
			if err != nil {
				t.Fatalf("value %d, %s: %v", i, how, err)
			}
			if !bytes.Equal(Written(t, got), data) {
				t.Fatalf("value %d, %s: %v was read for %v", i, how, got, v)
			}
		}
	}
}

// ends: with Stream, several values are read one by one; otherwise nothing may follow a value.
func (f Format) ends(t *testing.T, small []byte) {
	if !f.Stream {
		for _, more := range []string{"\x00", "x", string(small)} {
			if v, err := f.Read(strings.NewReader(string(small) + more)); err == nil || !f.known(err) {
				t.Errorf("%q after the end: %v, %v", more[:1], v, err)
			}
		}
		return
	}
	const more = "more"
	var stream []byte
	for _, v := range f.Values {
		stream = append(stream, Written(t, v)...)
	}
	for how, reader := range readers {
		rest := bytes.NewReader(append(slices.Clip(stream), more...))
		in := reader(rest)
		for i, v := range f.Values {
			got, err := f.Read(in)
			if err != nil || !bytes.Equal(Written(t, got), Written(t, v)) {
				t.Fatalf("value %d of a stream, %s: %v, %v", i, how, got, err)
			}
		}
		if left, _ := io.ReadAll(in); string(left) != more {
			t.Errorf("%s: %q is left, want %q", how, left, more)
		}
	}
	if _, err := f.Read(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("nothing at all: %v, want io.EOF", err)
	}
}

// cuts: data that ends too early is corrupt, and a reader's error is returned.
func (f Format) cuts(t *testing.T, data []byte) {
	for n := 0; n < len(data); n += max(f.Every, 1) {
		switch _, err := f.Read(bytes.NewReader(data[:n])); {
		case n == 0 && err != nil: // io.EOF in a stream
		case err == nil || err == io.EOF && !f.AnyError || !f.known(err) || f.Stream && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		for _, broken := range []error{errBroken, io.ErrUnexpectedEOF} {
			if _, err := f.Read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
				t.Fatalf("a reader that fails after %d bytes: %v, want its error", n, err)
			}
		}
	}
}

// flips: a flipped bit causes a known error, or, without checksums, a known error or another value. Another version
// causes ErrIncompatible.
func (f Format) flips(t *testing.T, data []byte) {
	damaged := bytes.Clone(data)
	for i := 0; i < len(data)*8; i += max(f.Every, 1) {
		damaged[i/8] ^= 1 << (i % 8)
		if f.Sealed {
			if v, err := f.Read(bytes.NewReader(damaged)); err == nil || !f.known(err) {
				t.Fatalf("bit %d of byte %d flipped: %v, %v", i%8, i/8, v, err)
			}
		} else {
			f.Check(t, damaged)
		}
		damaged[i/8] ^= 1 << (i % 8)
	}
	if f.Version > 0 {
		damaged[f.Version] += 7
		_, err := f.Read(bytes.NewReader(damaged))
		if !errors.Is(err, bloom.ErrIncompatible) || errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("another version: %v, want ErrIncompatible", err)
		}
	}
}

// Check reads any bytes: the result is a known error, or a value that can be written and read again.
func (f Format) Check(t testing.TB, data []byte) {
	t.Helper()
	v, err := f.Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
	if err != nil {
		if err != io.EOF && !f.known(err) {
			t.Fatalf("%q: %v", data, err)
		}
		return
	}
	written := Written(t, v)
	again, err := f.Read(bytes.NewReader(written))
	if err != nil || !bytes.Equal(Written(t, again), written) {
		t.Fatalf("%q: read again: %v, %v", data, again, err)
	}
	if (f.Exact || f.Sealed && !f.AnyError) && !bytes.HasPrefix(data, written) {
		t.Fatalf("%x was read and written as %x", data, written)
	}
	takesKey(t, v, data)
}

// takesKey adds a key to a value, if it has a method Add, and looks it up.
func takesKey(t testing.TB, v io.WriterTo, key []byte) {
	t.Helper()
	added := false
	switch v := v.(type) {
	case interface{ Add([]byte) bool }:
		added = v.Add(key)
	case interface{ Add([]byte) (bool, error) }:
		added, _ = v.Add(key)
	}
	if added && !v.(interface{ Contains([]byte) bool }).Contains(key) {
		t.Fatal("a key is missing")
	}
}

// Fuzz calls Check with bytes that the fuzzer makes from seeds and from damaged copies of the first value.
func (f Format) Fuzz(fuzz *testing.F, seeds ...[]byte) {
	data := Written(fuzz, f.Values[0])
	seeds = append(seeds, data)
	for i := 0; i < len(data); i += 37 {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x11
		seeds = append(seeds, damaged, data[:i])
	}
	for _, seed := range seeds {
		fuzz.Add(seed)
	}
	fuzz.Fuzz(func(t *testing.T, data []byte) { f.Check(t, data) })
}

// fullDisk: WriteTo reports a writer that fails after any number of bytes, with an error or, against the rules of
// io.Writer, without one.
func (f Format) fullDisk(t *testing.T, v io.WriterTo, size int) {
	for room := 0; room < size; room += max(f.Every, 1) {
		for fails, want := range map[error]error{errBroken: errBroken, nil: io.ErrShortWrite} {
			if fails == nil && f.Trusting {
				continue
			}
			if n, err := v.WriteTo(&testkit.ShortWriter{Room: room, Err: fails}); !errors.Is(err, want) || n != int64(room) {
				t.Fatalf("after %d bytes: %d reported, %v, want %v", room, n, err, want)
			}
		}
	}
}

var errBroken = errors.New("broken")

// memory: writing allocates little. Reading allocates the size of the value, or 1.5 times as much if the length is not
// known, and never more than four times the bytes that have arrived.
func (f Format) memory(t *testing.T) {
	const little = 300_000
	more := float64(max(f.Copies, 1) - 1)
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data := Written(t, f.Large)
	if written := testkit.Allocated(func() { _, err = f.Large.WriteTo(file) }); err != nil || float64(written) > 1.1*more*float64(len(data))+little {
		t.Errorf("writing took %d bytes, %v", written, err)
	}
	if len(data) < 1<<20 {
		t.Fatalf("%d bytes are not large", len(data))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	for from, c := range map[string]struct {
		r     io.Reader
		times float64
	}{"a file": {file, 1.1}, "bytes": {bytes.NewReader(data), 1.1}, "a pipe": {hidden{bytes.NewReader(data)}, 1.6}} {
		var got io.WriterTo
		took := testkit.Allocated(func() { got, err = f.Read(c.r) })
		if err != nil || float64(took) > (c.times+more)*float64(len(data))+little {
			t.Errorf("reading %d bytes from %s took %d, %v", len(data), from, took, err)
		} else if !bytes.Equal(Written(t, got), data) {
			t.Errorf("another value was read from %s", from)
		}
	}
	for _, came := range []int{1000, 100_000, 600_000, len(data) / 3} {
		for from, r := range map[string]io.Reader{"bytes": bytes.NewReader(data[:came]), "a pipe": hidden{bytes.NewReader(data[:came])}} {
			if took := testkit.Allocated(func() { _, err = f.Read(r) }); !f.known(err) || took > uint64(4*came+little) {
				t.Errorf("%d of %d bytes from %s took %d, %v", came, len(data), from, took, err)
			}
		}
	}
}
