package bloom

import (
	"testing"
)

// TestNoAllocations, and no escape: buffers on the caller's stack stay there.
func TestNoAllocations(t *testing.T) {
	for _, s := range allStrategies {
		f := MustNew(10_000, 0.001, WithStrategy(s))
		sum := 0
		calls := map[string]func(i uint64){
			"Add": func(i uint64) {
				var b [8]byte
				b[0], b[1] = byte(i), byte(i>>8)
				f.Add(b[:])
			},
			"Contains": func(i uint64) {
				var b [8]byte
				b[0], b[1] = byte(i), byte(i>>8)
				f.Contains(b[:])
			},
			"AddString":      func(i uint64) { f.AddString(bufferString[:1+i%8]) },
			"ContainsString": func(i uint64) { f.ContainsString(bufferString[:1+i%8]) },
			"Hash": func(i uint64) {
				var b [8]byte
				b[0] = byte(i)
				h1, _ := f.Hash(b[:])
				s1, _ := f.HashString(bufferString[:1+i%8])
				sum += int(h1 ^ s1)
			},
			"FillRatio":      func(uint64) { f.FillRatio() },
			"EstimatedCount": func(uint64) { f.EstimatedCount() },
		}
		if !s.needsKey() {
			calls["AddHash"] = func(i uint64) { f.AddHash(digest(i)) }
			calls["ContainsHash"] = func(i uint64) { f.ContainsHash(digest(i)) }
		}
		for name, call := range calls {
			i := uint64(0)
			if allocs := testing.AllocsPerRun(200, func() { call(i); i++ }); allocs != 0 {
				t.Errorf("%s: %s allocates %v times", s, name, allocs)
			}
		}
	}
}

const bufferString = "a string of more than eight bytes"
