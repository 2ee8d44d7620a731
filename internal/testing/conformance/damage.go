package conformance

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
)

// mixtures copies every range of bytes of one snapshot into the other. Read must refuse each result.
func (f Format) mixtures(t *testing.T) {
	a, b := f.Earlier, f.Later
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
			if _, err := f.Read(bytes.NewReader(mixed)); !errors.Is(err, bloom.ErrCorrupt) {
				t.Fatalf("bytes %d to %d of another snapshot: %v", from, to, err)
			}
		}
	}
	t.Logf("%d mixtures of two snapshots, none accepted", tried)
}

// damages damages the two snapshots many times, with random numbers of a fixed seed: it flips bits, changes bytes, and
// copies, moves, swaps, removes or mixes blocks. Read must refuse the result, unless it begins with one of the
// snapshots.
func (f Format) damages(t *testing.T, times int) {
	files := [][]byte{f.Earlier, f.Later}
	random := rand.New(rand.NewPCG(1, uint64(times)))
	for range times {
		damaged := damage(random, files[random.IntN(len(files))], files[random.IntN(len(files))])
		if slices.ContainsFunc(files, func(file []byte) bool { return bytes.HasPrefix(damaged, file) }) {
			continue
		}
		if _, err := f.Read(bytes.NewReader(damaged)); err == nil {
			t.Fatalf("accepted: %x", damaged)
		}
	}
}

// damage returns a copy of data with one to three damages. Some of them copy bytes from other.
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
		case 8: // replaced by the bytes at the same place of another snapshot
			if end := min(from+size, len(other)); from < end {
				copy(data[from:end], other[from:end])
			}
		}
	}
	return data
}
