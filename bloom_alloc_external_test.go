package bloom_test

import (
	"encoding/binary"
	"testing"

	"github.com/seed3447c163/bloom"
)

// TestCallersBuffersStayOnTheStack: seen from another package, where the compiler
// knows no more of a method than whether its arguments escape.
func TestCallersBuffersStayOnTheStack(t *testing.T) {
	f := bloom.MustNew(1000, 0.01)
	next := uint64(0)
	for name, op := range map[string]func(){
		"Add": func() {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], next)
			f.Add(b[:])
		},
		"Contains": func() {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], next)
			f.Contains(b[:])
		},
		"AddMany": func() {
			var b [2][8]byte
			var added [2]bool
			binary.LittleEndian.PutUint64(b[1][:], next)
			f.AddMany([][]byte{b[0][:], b[1][:]}, added[:])
		},
		"ContainsMany": func() {
			var b [2][8]byte
			var found [2]bool
			binary.LittleEndian.PutUint64(b[1][:], next)
			f.ContainsMany([][]byte{b[0][:], b[1][:]}, found[:])
		},
		"AddStrings": func() {
			var added [2]bool
			f.AddStrings([]string{"a", "b"}, added[:])
		},
		"ContainsStrings": func() {
			var found [2]bool
			f.ContainsStrings([]string{"a", "b"}, found[:])
		},
	} {
		if n := testing.AllocsPerRun(100, func() { next++; op() }); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}
