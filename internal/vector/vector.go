// Package vector has kernels in assembly. A kernel is one function that hashes a key and looks it up or adds it. The
// kernels give the same answers and set the same bits as the Go kernels of packages bloom and view, which other
// processors use.
//
// There are kernels for each pair of a hash and a layout. Hashes and layouts are assembler macros: one line of
// kernels_amd64.s makes the four functions of a pair, and their row of a table. Batches without a kernel call Prefetch.
package vector

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
)

// A Layout is a strategy. Blocked has a layout for each number of words per key.
type Layout uint8

const (
	NoLayout Layout = iota // for strategies without kernels
	Split
	Blocked2
	Blocked4
	Blocked8
	Double
	layouts = iota - 1
)

// Blocked returns the layout of the strategy Blocked with k positions per key.
func Blocked(k int) Layout {
	switch probe.Words(k) {
	case 2:
		return Blocked2
	case 4:
		return Blocked4
	}
	return Blocked8
}

// An Input is the kind of argument that a kernel takes: a digest, or a key and the hash that the kernel computes.
type Input uint8

const (
	NoInput Input = iota // for hashes without kernels
	Digest               // the caller has hashed the key
	Rapid                // RapidHash
	Murmur               // Murmur3 x64-128
	hashes  = iota - 1
)

// Lengths is 1 plus the length of the longest key that kernels take. It is bounded, because the runtime cannot stop a
// goroutine in assembly.
const Lengths = 112 + 1

// MostLines is the largest number of lines that CopyLines copies in one call.
const MostLines = 1 << 10

// Bits is the argument of a kernel. A pointer to a struct with the same memory layout can be converted to *Bits.
type Bits struct {
	Blocks uint64 // number of blocks; for Double, of bits
	K      int    // positions per key
	State  uint64 // initial state of the hash
	Words  unsafe.Pointer
}

// An Op selects a kernel of a row.
type Op uint8

const (
	Look Op = iota // reports whether all bits of a key are set
	Add            // sets them, and reports whether it set the last one
)

// A Row has the addresses of the kernels of a layout and a hash, by operation.
type Row struct {
	One  [2]uintptr // for one key or digest
	many [2]uintptr // for batches; 0 if there are no such kernels
}

// For returns the kernels of a layout and a hash, or nil if the Go kernels must be used. shared means that other
// goroutines may change the words meanwhile. Then For returns nil for blocks that are not aligned, because their loads
// would not be atomic.
func For(l Layout, h Input, b *Bits, shared bool) *Row {
	switch {
	case l != Double && shared && uintptr(b.Words)%32 != 0:
		return nil
	case l == Double && h == Digest && Has512 && eightsTake(b.Blocks):
		return &doubleEights
	}
	return table[h][l]
}

// eightsTake reports whether doubleEights works for m bits. The kernels of doubleEights multiply by m in 32 bits: with
// m = 2^32, all positions would be 0.
func eightsTake(m uint64) bool { return m < 1<<32 }

// table has the rows by hash and layout; all are nil if this processor has no kernels.
var table = func() (t [hashes + 1][layouts + 1]*Row) {
	for h := Digest; Has && h <= hashes; h++ {
		for l := Split; l <= layouts; l++ {
			t[h][l] = &rows()[h-1][l-1]
		}
	}
	return t
}()

// doubleEights is the row of layout Double and input Digest. For this row, Many calls the AVX-512 kernels doubleAdd and
// doubleContains.
var doubleEights = func() (r Row) {
	if Has {
		r = *table[Digest][Double]
	}
	return r
}()

// HasMany reports whether there are kernels for batches of keys. Rows of Murmur, and of Double with Rapid, have none,
// because Sum and the kernels for digests together are faster.
func (r *Row) HasMany() bool { return r != nil && r.many[Look] != 0 }

// Many adds or looks up as many keys or digests as there are answers, at least one, and sets the answers. keys points
// to the first slice header, string header or digest; they are size bytes apart. Many stops before a key of more than
// 112 bytes. It returns the number of keys done, and the number of true answers.
func (r *Row) Many(b *Bits, keys unsafe.Pointer, size uintptr, answers []bool, op Op) (done, count int) {
	n := len(answers)
	switch {
	case r == &doubleEights && op == Add:
		return n, doubleAdd(b, keys, n, &answers[0])
	case r == &doubleEights:
		return n, doubleContains(b, keys, n, &answers[0])
	}
	return many(b, keys, size, n, &answers[0], r.many[op&1])
}

// Sum hashes as many keys as there are digests, at least one, by Rapid or Murmur. state is the initial state. For keys
// and size, see Many. Sum stops before a key of more than 112 bytes, or of more than 64 kB if murmurEights hashes it.
// It returns the number of keys that it has hashed.
func Sum(h Input, state uint64, keys unsafe.Pointer, size uintptr, digests [][2]uint64) (done int) {
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

// FillSplit adds one or more digests with Split, by ordinary stores: no other goroutine may use the words yet.
func FillSplit(b *Bits, digests [][2]uint64) { fillSplit(b, &digests[0], len(digests)) }
