package typed

import (
	"encoding/binary"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

type point struct{ x, y int32 }

func appendPoint(dst []byte, p point) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.x))
	return binary.LittleEndian.AppendUint32(dst, uint32(p.y))
}

func TestNoAllocations(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector, with which sync.Pool forgets at random")
	}
	uints := New(bloom.MustNew(10_000, 0.001), binary.LittleEndian.AppendUint64)
	points := New(bloom.MustNew(10_000, 0.001, bloom.WithStrategy(bloom.Blocked)), appendPoint)
	strings := New(bloom.MustNew(10_000, 0.001, bloom.WithStrategy(bloom.SeededHashing)), func(dst []byte, s string) []byte { return append(dst, s...) })
	long := New(setOnly{bloom.MustNew(10_000, 0.001)}, appendVarying)
	var numbers [200]uint64
	for name, call := range map[string]func(i uint64){
		"Add":              func(i uint64) { uints.Add(i) },
		"Contains":         func(i uint64) { uints.Contains(i) },
		"Add, struct":      func(i uint64) { points.Add(point{int32(i), 1}) },
		"Contains, struct": func(i uint64) { points.Contains(point{int32(i), 1}) },
		"Add, string":      func(i uint64) { strings.Add("a string of more than eight bytes"[i%8:]) },
		"Add, long keys":   func(i uint64) { long.Add(i) },
		"AddMany":          func(i uint64) { numbers[0] = i; long.AddMany(numbers[:], nil) },
		"ContainsMany": func(i uint64) {
			values, found := [3]uint64{i, i + 1, i + 2}, [3]bool{}
			uints.ContainsMany(values[:], found[:])
			long.ContainsMany(values[:], found[:])
		},
	} {
		i := uint64(0)
		if allocs := testing.AllocsPerRun(1000, func() { call(i); i++ }); allocs != 0 {
			t.Errorf("%s allocates %v times", name, allocs)
		}
	}
}

// BenchmarkTyped looks up integers in a small blocked filter: as bytes that the caller makes on its
// stack, by a typed filter, and in batches.
func BenchmarkTyped(b *testing.B) {
	const n = 10_000
	f := bloom.MustNew(n, 0.01, bloom.WithStrategy(bloom.Blocked))
	typed := New(f, binary.LittleEndian.AppendUint64)
	for i := range uint64(n) {
		typed.Add(i)
	}
	values := make([]uint64, 512)
	for i := range values {
		values[i] = probe.Reduce(mix(uint64(i)), n)
	}
	for name, contains := range map[string]func(v uint64) bool{
		"untyped": func(v uint64) bool {
			var key [8]byte
			return f.Contains(binary.LittleEndian.AppendUint64(key[:0], v))
		},
		"typed": typed.Contains,
	} {
		b.Run("by="+name, func(b *testing.B) {
			for i := range b.N {
				contains(values[i%len(values)])
			}
		})
	}
	b.Run("by=batch", func(b *testing.B) {
		for i := 0; i < b.N; i += len(values) {
			typed.ContainsMany(values, nil)
		}
	})
}
