package bloom

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// moves lets the stack move: it grows by 200 kB, and the garbage collector shrinks it.
func moves() {
	deep(200)
	runtime.GC()
}

//
//go:noinline
func deep(n int) int {
	var frame [1024]byte
	frame[n%1024] = 1
	if n == 0 {
		return int(frame[5])
	}
	return deep(n-1) + int(frame[n%1024])
}

// TestStackGrowsInTheCall: own functions write to the right place, and their keys are the
// right ones, when the stack on which these are moves during the call.
func TestStackGrowsInTheCall(t *testing.T) {
	keyPositions := NewStrategy("key", Definition{KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			moves()
			for i := range dst {
				dst[i] = uint64(i)*3 + uint64(key[0]-'x') + 1
			}
		}, nil
	}})
	hash := NewHash("deep", func(key []byte) (h1, h2 uint64) { moves(); return uint64(key[0]), uint64(key[1]) })
	hash64 := NewHash64("deep64", func(key []byte) uint64 { moves(); return uint64(key[1]) })
	identity := eachPosition(func(h1, _ uint64, i, _ int) uint64 { return h1%2 + uint64(i)*3 + 1 })
	for _, c := range []struct {
		k    int
		opts []Option
		at   uint64
	}{
		{3, []Option{WithStrategy(keyPositions)}, 0}, {60, []Option{WithStrategy(keyPositions)}, 0},
		{3, []Option{WithStrategy(NewStrategy("", identity)), WithHash(hash)}, 'x' % 2},
		{3, []Option{WithStrategy(NewStrategy("", identity)), WithHash(hash64)}, 'y' % 2},
	} {
		f := must(NewWithParams(Params{M: 256, K: c.k}, c.opts...))
		want := []uint64{}
		for i := range uint64(c.k) {
			want = append(want, c.at+i*3+1)
		}
		calls := map[string]func(key []byte){
			"Add":             func(key []byte) { f.Add(key); require.Equal(t, want, setBits(f)) },
			"AddMany":         func(key []byte) { f.AddMany([][]byte{key}, nil); require.Equal(t, want, setBits(f)) },
			"Contains":        func(key []byte) { f.Add(key); f.bits.clear(); require.False(t, f.Contains(key)) },
			"AppendPositions": func(key []byte) { require.Equal(t, want, f.Scheme().AppendPositions(nil, key)) },
		}
		for name, call := range calls {
			f.Clear()
			done := make(chan bool)
			go func() { // a new goroutine has a small stack
				defer close(done)
				key := [2]byte{'x', 'y'}
				call(key[:])
			}()
			<-done
			if t.Failed() {
				t.Fatal(name, f)
			}
		}
		for _, there := range []bool{false, true} {
			f.Clear()
			if there {
				f.AddString("xy")
			}
			done := make(chan bool)
			go func() { defer close(done); require.Equal(t, there, f.ContainsString("xy")) }()
			<-done
		}
	}
}

// TestStackGrowsAtEachDepth: the same wherever in an operation the stack is at its end.
func TestStackGrowsAtEachDepth(t *testing.T) {
	positions := eachPosition(func(h1, _ uint64, i, _ int) uint64 { return h1 + uint64(i) })
	keyPositions := Definition{KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			for i := range dst {
				dst[i] = uint64(key[0]) + uint64(i)
			}
		}, nil
	}}
	hash := WithHash(NewHash("first", func(key []byte) (h1, h2 uint64) { return uint64(key[0]), 0 }))
	hash64 := WithHash(NewHash64("first64", func(key []byte) uint64 { return uint64(key[0]) }))
	for _, c := range []struct {
		d    Definition
		k    int
		hash Option
	}{
		{positions, 3, hash}, {positions, 60, hash64}, {keyPositions, 3, nil}, {keyPositions, 60, nil},
	} {
		opts := []Option{WithStrategy(NewStrategy("", c.d)), c.hash}
		if c.hash == nil {
			opts = opts[:1]
		}
		f := must(NewWithParams(Params{M: 1024, K: c.k}, opts...))
		for _, op := range []string{"Add", "AddMany", "Contains", "absent", "positions"} {
			for depth := range 400 { // of 16 to 48 bytes: a new stack has 2 kB
				f.Clear()
				if op == "Contains" {
					f.Add([]byte{5})
				}
				done := make(chan bool)
				go func() { done <- atDepth(depth, f, op) }()
				if !<-done || op == "Add" && f.bits.count() != uint64(c.k) {
					t.Fatalf("%s at depth %d: %v", op, depth, f.Stats())
				}
			}
		}
	}
}

//go:noinline
func atDepth(depth int, f *BloomFilter, op string) bool {
	if depth == 0 {
		return withKeyOnStack(f, op)
	}
	return atDepth(depth-1, f, op)
}

// withKeyOnStack reports whether an operation does what it should: the bits are 5, 6, ...,
// or those of the words.
//
//go:noinline
func withKeyOnStack(f *BloomFilter, op string) bool {
	key := [1]byte{5}
	switch op {
	case "Add":
		return f.Add(key[:])
	case "AddMany":
		return f.AddMany([][]byte{key[:]}, nil) == 1
	case "Contains":
		return f.Contains(key[:])
	case "absent":
		return !f.Contains(key[:])
	}
	var buf [64]uint64
	positions := f.Scheme().AppendPositions(buf[:0], key[:])
	return positions[0] == 5 && (positions[1] == 6 || positions[1] == 64+5)
}
