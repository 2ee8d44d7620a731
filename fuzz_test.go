package bloom

import (
	"testing"
)

// FuzzAgainstMap reads its input as a program of operations and runs it on two
// filters and on the sets of keys that they stand for.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 1, 1, 2, 0, 0, 7, 3, 0, 1, 7})
	f.Add([]byte{1, 9, 5, 0, 0, 9, 4, 0, 1, 9, 2, 0})
	f.Add([]byte("\x00a\x06b\x07c\x03-\x05-\x06d\x04-"))
	f.Fuzz(func(t *testing.T, program []byte) {
		for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked, custom} {
			// 256 different keys at most, in a filter so large that one false
			// positive in all the fuzzing of a year would be bad luck.
			newFilter := func() *BloomFilter { return MustNew(256, 1e-12, WithStrategy(s)) }
			filters := [2]*BloomFilter{newFilter(), newFilter()}
			sets := [2]map[byte]bool{{}, {}}
			for i := 0; i+1 < len(program); i += 2 {
				op, key := program[i]%8, program[i+1]
				a, b := filters[op&1], filters[1-op&1]
				x, y := sets[op&1], sets[1-op&1]
				switch op / 2 {
				case 0:
					if got := a.Add([]byte{key}); got == x[key] {
						t.Fatalf("%s: Add(%d) = %v, it was there: %v", s, key, got, x[key])
					}
					x[key] = true
				case 1:
					if err := a.Union(b); err != nil {
						t.Fatal(err)
					}
					for k := range y {
						x[k] = true
					}
				case 2:
					filters[op&1] = b.Clone()
					clear(x)
					for k := range y {
						x[k] = true
					}
				case 3:
					if key < 128 { // or most programs would be about empty filters
						continue
					}
					a.Clear()
					clear(x)
				}
			}
			for i := range filters {
				for key := range 256 {
					if got := filters[i].ContainsString(string([]byte{byte(key)})); got != sets[i][byte(key)] {
						t.Fatalf("%s: Contains(%d) = %v, it was added: %v", s, key, got, sets[i][byte(key)])
					}
				}
				if got, want := filters[i].EstimatedCount(), uint64(len(sets[i])); got+2+want/10 < want || got > want+2+want/10 {
					t.Fatalf("%s: EstimatedCount = %d for %d keys", s, got, want)
				}
			}
			if same := len(sets[0]) == len(sets[1]) && subset(sets[0], sets[1]); filters[0].Equal(filters[1]) != same {
				t.Fatalf("%s: Equal = %v, the sets are: %v", s, !same, same)
			}
		}
	})
}

func subset(a, b map[byte]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// FuzzParamsFor: for any n and p there is either an error or parameters that
// keep p, and no panic.
func FuzzParamsFor(f *testing.F) {
	f.Add(uint64(1_000_000), 0.01)
	f.Add(uint64(1), 0.5)
	f.Add(uint64(0), 2.0)
	f.Add(uint64(1)<<63, 1e-300)
	f.Fuzz(func(t *testing.T, n uint64, p float64) {
		params, err := ParamsFor(n, p, DoubleHashing)
		if err != nil {
			return
		}
		if rate := DoubleHashing.FalsePositiveRate(params.M, params.K, n); !(rate <= p) {
			t.Fatalf("n=%d p=%v: %+v has rate %v", n, p, params, rate)
		}
		if params.M == 0 || params.M%64 != 0 || params.K < 1 || params.K > maxK {
			t.Fatalf("n=%d p=%v: %+v", n, p, params)
		}
	})
}
