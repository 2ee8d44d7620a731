// Package frametest damages encoded filters.
package frametest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// A Format is the format of a package.
type Format struct {
	Write   func(io.Writer) (int64, error) // writes the golden file
	Read    func(io.Reader, ...bloom.Option) (io.WriterTo, error)
	Moves   bool   // what is written depends on the time
	Earlier []byte // two snapshots of one filter of equal length
	Later   []byte
}

// Reader returns the Read of a Format.
func Reader[F io.WriterTo](read func(io.Reader, ...bloom.Option) (F, error)) func(io.Reader, ...bloom.Option) (io.WriterTo, error) {
	return func(r io.Reader, opts ...bloom.Option) (io.WriterTo, error) { return read(r, opts...) }
}

// Test compares the format with its golden file and damages it in every way of this package. It
// returns what the golden file holds.
func (f Format) Test(t *testing.T, golden string) io.WriterTo {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	data := testkit.Frozen(t, golden, b.Bytes())
	holds, err := f.Read(bytes.NewReader(data))
	if err != nil || !bytes.Equal(Written(t, holds), data) {
		t.Fatalf("%v is not the golden file, %v", holds, err)
	}
	read := func(r io.Reader) error { _, err := f.Read(r); return err }
	Damage(t, data, read)
	Failing(t, f.Write)
	Damages(t, testkit.Times(10_000, 100_000, 11_000_000), read, f.Earlier, f.Later)
	Mixed(t, read, f.Earlier, f.Later)
	return holds
}

// Fuzz reads bytes. What is read is written as it was, and takes another key.
func (f Format) Fuzz(fuzz *testing.F) {
	var b bytes.Buffer
	if _, err := f.Write(&b); err != nil {
		fuzz.Fatal(err)
	}
	golden := b.Bytes()
	fuzz.Add(golden)
	for i := 0; i < len(golden); i += 37 {
		damaged := bytes.Clone(golden)
		damaged[i] ^= 0x11
		fuzz.Add(damaged)
		fuzz.Add(golden[:i])
	}
	fuzz.Fuzz(func(t *testing.T, data []byte) {
		holds, err := f.Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return
		}
		if written := Written(t, holds); !f.Moves && !bytes.HasPrefix(data, written) {
			t.Fatalf("%x was read and written as %x", data, written)
		}
		added := false
		switch set := holds.(type) {
		case interface{ Add([]byte) bool }:
			added = set.Add([]byte("one more"))
		case interface{ Add([]byte) (bool, error) }:
			added, _ = set.Add([]byte("one more"))
		}
		if added && !holds.(interface{ Contains([]byte) bool }).Contains([]byte("one more")) {
			t.Fatal("a key is missing")
		}
	})
}

// Mixed puts every range of one snapshot into the other. The result must be refused.
func Mixed(t *testing.T, read func(io.Reader) error, a, b []byte) {
	t.Helper()
	if len(a) != len(b) || bytes.Equal(a, b) {
		t.Fatalf("%d and %d bytes, want two different snapshots of equal length", len(a), len(b))
	}
	tried := 0
	for from := range a {
		if a[from] == b[from] {
			continue
		}
		mixed := bytes.Clone(a)
		for to := from; to < len(a); to++ {
			if mixed[to] = b[to]; a[to] == b[to] || bytes.Equal(mixed, b) {
				continue
			}
			tried++
			if err := read(bytes.NewReader(mixed)); !errors.Is(err, bloom.ErrCorrupt) {
				t.Fatalf("bytes %d to %d of another snapshot: %v", from, to, err)
			}
		}
	}
	t.Logf("%d mixtures of two snapshots, none accepted", tried)
}

// Damage cuts data off at every length, flips every bit and appends bytes. read must refuse damaged data
// with an error of this module, and must not read beyond the end.
func Damage(t *testing.T, data []byte, read func(io.Reader) error) {
	t.Helper()
	if err := read(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("nothing at all: %v, want io.EOF", err)
	}
	for n := range data {
		err := read(bytes.NewReader(data[:n]))
		if n > 0 && (!errors.Is(err, bloom.ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		if err := read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(errBroken))); !errors.Is(err, errBroken) {
			t.Fatalf("a reader that fails after %d bytes: %v, want its error", n, err)
		}
	}
	damaged := bytes.Clone(data)
	for i := range len(data) * 8 {
		damaged[i/8] ^= 1 << (i % 8)
		err := read(bytes.NewReader(damaged))
		if !errors.Is(err, bloom.ErrCorrupt) && !errors.Is(err, bloom.ErrIncompatible) && !errors.Is(err, bloom.ErrTooLarge) {
			t.Fatalf("bit %d of byte %d flipped: %v", i%8, i/8, err)
		}
		damaged[i/8] ^= 1 << (i % 8)
	}
	damaged[7]++ // the last byte of the magic
	if err := read(bytes.NewReader(damaged)); !errors.Is(err, bloom.ErrIncompatible) {
		t.Errorf("another version: %v, want ErrIncompatible", err)
	}
	more := bytes.NewReader(append(bytes.Clone(data), "more"...))
	if err := read(more); err != nil || more.Len() != 4 {
		t.Errorf("with more behind it: %v, %d bytes left, want 4", err, more.Len())
	}
	t.Logf("%d bytes: every cut and every flipped bit is refused", len(data))
}

// Damages damages files many times, by a fixed sequence of random numbers: it flips bits, changes bytes,
// and copies, moves, swaps, removes or mixes blocks. The result must be refused unless it is one of the
// files.
func Damages(t *testing.T, times int, read func(io.Reader) error, files ...[]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(times)))
	for range times {
		damaged := damage(random, files[random.IntN(len(files))], files[random.IntN(len(files))])
		if slices.ContainsFunc(files, func(file []byte) bool { return bytes.HasPrefix(damaged, file) }) {
			continue
		}
		if err := read(bytes.NewReader(damaged)); err == nil {
			t.Fatalf("accepted: %x", damaged)
		}
	}
}

// damage returns data with one to three damages.
func damage(random *rand.Rand, data, other []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + random.IntN(3) {
		if len(data) < 2 {
			break
		}
		size := 1 + random.IntN(min(len(data), 1<<random.IntN(10)))
		from, to := random.IntN(len(data)-size+1), random.IntN(len(data)-size+1)
		switch random.IntN(9) {
		case 0:
			data[from] ^= 1 << random.IntN(8)
		case 1:
			data[from] = byte(random.Uint32())
		case 2: // a burst
			for i := range size {
				data[from+i] ^= byte(random.Uint32())
			}
		case 3:
			clear(data[from : from+size])
		case 4:
			copy(data[to:], data[from:from+size])
		case 5: // swapped
			block := bytes.Clone(data[from : from+size])
			copy(data[from:], data[to:to+size])
			copy(data[to:], block)
		case 6: // moved
			block := bytes.Clone(data[from : from+size])
			data = slices.Insert(slices.Delete(data, from, from+size), to, block...)
		case 7: // left out, or written twice
			if random.IntN(2) == 0 {
				data = slices.Delete(data, from, from+size)
			} else {
				data = slices.Insert(data, from, bytes.Clone(data[from:from+size])...)
			}
		case 8: // the same place of another snapshot
			if end := min(from+size, len(other)); from < end {
				copy(data[from:end], other[from:end])
			}
		}
	}
	return data
}

// Failing ends writing after every number of bytes, with an error or without one. write must report it.
func Failing(t *testing.T, write func(io.Writer) (int64, error)) {
	t.Helper()
	var whole bytes.Buffer
	if n, err := write(&whole); err != nil || n != int64(whole.Len()) {
		t.Fatalf("%d bytes written, %d reported, %v", whole.Len(), n, err)
	}
	for room := range whole.Len() {
		for fails, want := range map[error]error{errBroken: errBroken, nil: io.ErrShortWrite} {
			if n, err := write(&testkit.ShortWriter{Room: room, Err: fails}); n != int64(room) || !errors.Is(err, want) {
				t.Fatalf("after %d bytes: %d reported, %v, want %v", room, n, err, want)
			}
		}
	}
}

var errBroken = errors.New("broken")
