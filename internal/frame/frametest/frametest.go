// Package frametest damages encoded filters.
package frametest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
)

var write = flag.Bool("write-goldens", false, "write golden files that are not there yet")

// Golden returns a golden file, which must have the given bytes. It is never overwritten.
func Golden(t *testing.T, path string, want []byte) []byte {
	t.Helper()
	got, err := os.ReadFile(path)
	if *write && errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return want
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s has %d bytes that differ from the %d of today", path, len(got), len(want))
	}
	return got
}

// A Format is the format of a package.
type Format struct {
	Write   func(io.Writer) (int64, error) // writes the golden file
	Read    func(io.Reader) error
	Earlier []byte // two snapshots of one filter of equal length
	Later   []byte
}

// Test compares the format with its golden file and damages it in every way of this package. It
// returns the golden file.
func (f Format) Test(t *testing.T, golden string) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	data := Golden(t, golden, b.Bytes())
	Damage(t, data, f.Read)
	Failing(t, f.Write)
	Copies(t, f.Earlier, f.Read)
	Damages(t, effort.Times(10_000, 100_000, 11_000_000), f.Read, f.Earlier, f.Later)
	Mixed(t, f.Read, f.Earlier, f.Later)
	return data
}

// Fuzz feeds bytes to again, which reads a filter and writes it. ok is false if it does not.
func (f Format) Fuzz(fuzz *testing.F, again func(data []byte) (written []byte, ok bool)) {
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
		if written, ok := again(data); ok && !bytes.HasPrefix(data, written) {
			t.Fatalf("%x was read and written as %x", data, written)
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
	cuts, flips := 0, 0
	for n := 1; n < len(data); n++ {
		err := read(bytes.NewReader(data[:n]))
		if !errors.Is(err, bloom.ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		cuts++
	}
	damaged := bytes.Clone(data)
	for i := range len(data) * 8 {
		damaged[i/8] ^= 1 << (i % 8)
		err := read(bytes.NewReader(damaged))
		if !errors.Is(err, bloom.ErrCorrupt) && !errors.Is(err, bloom.ErrIncompatible) && !errors.Is(err, bloom.ErrTooLarge) {
			t.Fatalf("bit %d of byte %d flipped: %v", i%8, i/8, err)
		}
		damaged[i/8] ^= 1 << (i % 8)
		flips++
	}
	damaged[7]++ // the last byte of the magic
	if err := read(bytes.NewReader(damaged)); !errors.Is(err, bloom.ErrIncompatible) {
		t.Errorf("another version: %v, want ErrIncompatible", err)
	}
	for n := range len(data) {
		if err := read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(errBroken))); !errors.Is(err, errBroken) {
			t.Fatalf("a reader that fails after %d bytes: %v, want its error", n, err)
		}
	}
	more := bytes.NewReader(append(bytes.Clone(data), "more"...))
	if err := read(more); err != nil || more.Len() != 4 {
		t.Errorf("with more behind it: %v, %d bytes left, want 4", err, more.Len())
	}
	t.Logf("%d cuts and %d flips, none accepted", cuts, flips)
}

// Copies copies blocks of 17 and 64 bytes, with -long also of 8, 32 and 48, from every place in data
// (with -short every fifth) to every other one. The result must be refused.
func Copies(t *testing.T, data []byte, read func(io.Reader) error) {
	t.Helper()
	lengths := []int{17, 64}
	if *effort.Long {
		lengths = append(lengths, 8, 32, 48)
	}
	var tried, accepted atomic.Int64
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			damaged := bytes.Clone(data)
			for from := range next {
				for _, length := range lengths {
					for to := 0; to+length <= len(data) && from+length <= len(data); to++ {
						block, old := data[from:from+length], data[to:to+length]
						if bytes.Equal(block, old) {
							continue
						}
						copy(damaged[to:], block)
						tried.Add(1)
						if err := read(bytes.NewReader(damaged)); err == nil && accepted.Add(1) <= 3 {
							t.Errorf("%d bytes copied from %d to %d: accepted", length, from, to)
						}
						copy(damaged[to:], old)
					}
				}
			}
		})
	}
	for from := 0; from < len(data); from += effort.Times(5, 1, 1) {
		next <- from
	}
	close(next)
	wg.Wait()
	t.Logf("%d bytes: %d copies of a block, %d accepted", len(data), tried.Load(), accepted.Load())
	if accepted.Load() > 0 {
		t.Errorf("%d of %d copies of a block accepted", accepted.Load(), tried.Load())
	}
}

// Damages damages files many times, by a fixed sequence of random numbers: it flips bits, changes bytes,
// and copies, moves, swaps, removes or mixes blocks. The result must be refused unless it is one of the
// files.
func Damages(t *testing.T, times int, read func(io.Reader) error, files ...[]byte) {
	t.Helper()
	var tried, accepted atomic.Int64
	var wg sync.WaitGroup
	const streams = 16 // the same on every machine
	for stream := range uint64(streams) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(stream, uint64(times)))
			for range times / streams {
				data, other := files[random.IntN(len(files))], files[random.IntN(len(files))]
				damaged := damage(random, data, other)
				if slices.ContainsFunc(files, func(file []byte) bool { return bytes.HasPrefix(damaged, file) }) {
					continue
				}
				tried.Add(1)
				if err := read(bytes.NewReader(damaged)); err == nil && accepted.Add(1) <= 3 {
					t.Errorf("accepted: %x", damaged)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d damages, %d accepted", tried.Load(), accepted.Load())
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

// Failing lets each write in turn write only half, with an error or without. write must report it.
func Failing(t *testing.T, write func(io.Writer) (int64, error)) {
	t.Helper()
	var whole bytes.Buffer
	n, err := write(&whole)
	if err != nil || n != int64(whole.Len()) {
		t.Fatalf("%d bytes written, %d reported, %v", whole.Len(), n, err)
	}
	for _, c := range []struct{ err, want error }{{errBroken, errBroken}, {nil, io.ErrShortWrite}} {
		for fail := 0; ; fail++ {
			w := &failing{left: fail, err: c.err}
			n, err := write(w)
			if n != w.n {
				t.Fatalf("%d bytes written, %d reported", w.n, n)
			}
			if !w.failed {
				break
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("write %d: %v, want %v", fail, err, c.want)
			}
		}
	}
}

var errBroken = errors.New("broken")

type failing struct {
	left   int
	err    error
	failed bool
	n      int64
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left == 0 {
		f.failed = true
		f.n += int64(len(p) / 2)
		return len(p) / 2, f.err
	}
	f.left--
	f.n += int64(len(p))
	return len(p), nil
}

// A BusyWriter calls Meanwhile before its first byte.
type BusyWriter struct {
	bytes.Buffer
	Meanwhile func()
}

func (w *BusyWriter) Write(p []byte) (int, error) {
	if w.Meanwhile != nil {
		w.Meanwhile()
		w.Meanwhile = nil
	}
	return w.Buffer.Write(p)
}
