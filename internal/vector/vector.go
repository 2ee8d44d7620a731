// Package vector has kernels in assembly that hash a key and look at its bits, or set them, in one
// function. They give the same answers and set the same bits as the Go kernels of packages bloom and
// view, which serve all other processors.
//
// A kernel is the product of a hash and a layout. Both are macros, and one line of kernels_amd64.s
// makes the four functions of a pair and their row of a table.
package vector

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
)

// A Layout is the strategy of a kernel.
type Layout uint8

const (
	NoLayout Layout = iota // of strategies without kernels
	Split
	Blocked2
	Blocked4
	Blocked8
	Double
	layouts = iota - 1
)

// Blocked returns the layout of Blocked with k positions per key.
func Blocked(k int) Layout {
	switch probe.Words(k) {
	case 2:
		return Blocked2
	case 4:
		return Blocked4
	}
	return Blocked8
}

// A Hash is the hash of a kernel.
type Hash uint8

const (
	NoHash Hash = iota // of hashes without kernels
	Digest             // the caller has hashed the key
	Rapid              // RapidHash
	Murmur             // Murmur3 x64-128
	hashes = iota - 1
)

// Lengths is how many lengths of keys the kernels take, from 0: the runtime cannot stop a goroutine in
// assembly.
const Lengths = 112 + 1

// MostLines is the largest number of lines that CopyLines copies in one call.
const MostLines = 1 << 10

// Bits are what a kernel works on. A struct of another package may stand for one if its fields have
// the same places.
type Bits struct {
	Blocks uint64 // a digest selects one of them; for Double, each bit counts as a block
	K      int    // positions per key
	State  uint64 // what the hash begins with
	Words  unsafe.Pointer
}

// A Row has the addresses of the kernels of a layout and a hash.
type Row struct {
	contains, add         uintptr //lint:ignore U1000 the assembly jumps to them
	containsMany, addMany uintptr // 0 without such kernels
}

// For returns the kernels of a layout and a hash, or nil if this processor or these bits need the Go
// kernels. shared says that others may write to the words meanwhile: then blocks must be aligned.
func For(l Layout, h Hash, b *Bits, shared bool) *Row {
	switch {
	case l != Double && shared && uintptr(b.Words)%32 != 0:
		return nil
	case l == Double && h == Digest && Has512 && eightsTake(b.Blocks):
		return &doubleEights
	}
	return table[h][l]
}

// eightsTake reports whether a filter of m bits can have the kernels of doubleEights. They multiply by m in 32 bits:
// with m = 2^32, all positions would be 0.
func eightsTake(m uint64) bool { return m < 1<<32 }

// table has the rows that this processor can use.
var table = func() (t [hashes + 1][layouts + 1]*Row) {
	for h := Digest; Has && h <= hashes; h++ {
		for l := Split; l <= layouts; l++ {
			t[h][l] = &rows()[h-1][l-1]
		}
	}
	return t
}()

// doubleEights is the row of Double and Digest with other kernels for batches, see Many.
var doubleEights = func() (r Row) {
	if Has {
		r = *table[Digest][Double]
	}
	return r
}()

// HasMany reports whether there are kernels for batches. Rows of Murmur, and of Double with Rapid, have none: Sum and
// the kernels for digests take less time.
func (r *Row) HasMany() bool { return r != nil && r.containsMany != 0 }

// Many adds or looks up keys, strings or digests, which begin size bytes after each other, and sets as
// many answers as there are, at least one. It stops before a key of more than 112 bytes. It returns
// how many keys it has worked on, and for how many the answer is true.
func (r *Row) Many(b *Bits, keys unsafe.Pointer, size uintptr, answers []bool, add bool) (done, count int) {
	n := len(answers)
	switch {
	case r == &doubleEights && add:
		return n, doubleAdd(b, keys, n, &answers[0])
	case r == &doubleEights:
		return n, doubleContains(b, keys, n, &answers[0])
	case add:
		return many(b, keys, size, n, &answers[0], r.addMany)
	}
	return many(b, keys, size, n, &answers[0], r.containsMany)
}

// Sum hashes keys or strings, which begin size bytes after each other, by Rapid or Murmur from a state: as many as
// there are digests, at least one. It stops before a long key: of more than 112 bytes, or of more than 64 kB if it is
// one of eight that murmurEights hashes. It returns how many keys it has hashed.
func Sum(h Hash, state uint64, keys unsafe.Pointer, size uintptr, digests [][2]uint64) (done int) {
	b := Bits{State: state}
	if h == Rapid {
		return rapidMany(&b, keys, size, len(digests), &digests[0])
	}
	if eights := len(digests) / 8; Has512 && eights > 0 {
		done = 8 * murmurEights(state, keys, size, eights, &digests[0])
	}
	if done < len(digests) {
		done += murmurMany(&b, unsafe.Add(keys, uintptr(done)*size), size, len(digests)-done, &digests[done])
	}
	return done
}

// FillSplit adds digests, at least one, with Split, by ordinary stores: no other goroutine may have the words yet.
func FillSplit(b *Bits, digests [][2]uint64) { fillSplit(b, &digests[0], len(digests)) }
