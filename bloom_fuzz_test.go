package bloom

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// fuzzShapes are schemes of filters for 256 different keys, so large that no input of a year of
// fuzzing meets a false positive. Sizing would take longer than the fuzzing.
func fuzzShapes() (shapes []*Scheme) {
	for _, s := range allStrategies {
		for _, m := range []uint64{1 << 17, 1<<17 - 1} {
			shapes = append(shapes, must(NewSchemeWithParams(fit(s, m, 16), WithStrategy(s))))
		}
	}
	return shapes
}

// FuzzAgainstMap reads its input as a program of operations and runs it on two
// filters and on the sets of keys that they stand for.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 1, 1, 2, 0, 0, 7, 3, 0, 1, 7})
	f.Add([]byte{1, 9, 5, 0, 0, 9, 4, 0, 1, 9, 2, 0})
	f.Add([]byte("\x00a\x06b\x07c\x03-\x05-\x06d\x04-"))
	f.Add([]byte{0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 1, 4, 8, 0, 10, 3, 12, 5, 13, 5, 14, 0, 15, 0})
	shapes := fuzzShapes()
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 6 * len(shapes) {
		program := []byte{byte(i), 0}
		for range 60 {
			program = binary.LittleEndian.AppendUint16(program, uint16(random.Uint32()))
		}
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 {
			return
		}
		s := shapes[int(program[0])%len(shapes)]
		filters, sets := [2]*BloomFilter{must(s.Filter()), must(s.Filter())}, [2]map[byte]bool{{}, {}}
		for i := 0; i+1 < len(program); i += 2 {
			op, key := program[i]%16, program[i+1]
			a, b := op&1, 1-op&1
			fuzzStep(t, op/2, key, &filters[a], filters[b], sets[a], sets[b])
		}
		for i := range filters {
			for key := range 256 {
				if got := filters[i].ContainsString(string([]byte{byte(key)})); got != sets[i][byte(key)] {
					t.Fatalf("%s: Contains(%d) = %v, it was added: %v", s.String(), key, got, sets[i][byte(key)])
				}
			}
			if got, want := filters[i].Stats().EstimatedCount, uint64(len(sets[i])); !intersected(program) && (got+2+want/10 < want || got > want+2+want/10) {
				t.Fatalf("%s: EstimatedCount = %d for %d keys", s.String(), got, want)
			}
		}
		if same, equal := maps.Equal(sets[0], sets[1]), filters[0].Equal(filters[1]); same != equal && !(same && intersected(program)) {
			t.Fatalf("%s: Equal = %t, and the sets are equal: %t", s.String(), equal, same)
		}
	})
}

// fuzzStep does one operation on the filter and on the set x of its keys. other and y
// are the second pair.
func fuzzStep(t *testing.T, op, key byte, filter **BloomFilter, other *BloomFilter, x, y map[byte]bool) {
	f := *filter
	switch op {
	case 0:
		if got := f.Add([]byte{key}); got == x[key] {
			t.Fatalf("Add(%d) = %v, it was there: %v", key, got, x[key])
		}
		x[key] = true
	case 1:
		if err := f.Union(other); err != nil {
			t.Fatal(err)
		}
		maps.Copy(x, y)
	case 2:
		*filter = other.Clone()
		clear(x)
		maps.Copy(x, y)
	case 3:
		if key < 128 { // or most programs would be about empty filters
			return
		}
		f.Clear()
		clear(x)
	case 4:
		if err := f.Intersect(other); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(x, func(key byte, _ bool) bool { return !y[key] })
	case 5: // a batch with some keys that are there already; the last occurs twice
		var keys [][]byte
		want := []bool{}
		for i := range key % 100 {
			k := key/2 + i
			keys, want = append(keys, []byte{k}), append(want, !x[k])
			x[k] = true
		}
		if len(keys) > 0 {
			keys, want = append(keys, keys[len(keys)-1]), append(want, false)
		}
		got := make([]bool, len(keys))
		if f.AddMany(keys, got); !slices.Equal(got, want) {
			t.Fatalf("AddMany from %d: %v, want %v", key/2, got, want)
		}
		if n := f.ContainsMany(keys, nil); n != len(keys) {
			t.Fatalf("ContainsMany finds %d of %d", n, len(keys))
		}
	case 6:
		if got := f.Contains([]byte{key}); got != x[key] {
			t.Fatalf("Contains(%d) = %v, it was added: %v", key, got, x[key])
		}
	case 7:
		data, err := f.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(data), WithStrategy(f.Scheme().Strategy()))
		if err != nil || !again.Equal(f) {
			t.Fatalf("written and read again: %v", err)
		}
		*filter = again
	}
}

// intersected reports whether a program has an Intersect: afterwards a filter may have
// bits that belong to none of its keys.
func intersected(program []byte) bool {
	for i := 0; i+1 < len(program); i += 2 {
		if program[i]%16/2 == 4 {
			return true
		}
	}
	return false
}
