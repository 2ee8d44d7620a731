package counting

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBatches give the same answers as one by one.
func TestBatches(t *testing.T) {
	one, many, strs := must(200, 0.01), must(200, 0.01), must(200, 0.01)
	random := rand.New(rand.NewPCG(2, 2))
	for round := range 60 {
		keys, texts := [][]byte{}, []string{}
		for range random.IntN(100) {
			var b [16]byte
			k := key(&b, random.Uint64N(150))
			keys, texts = append(keys, k), append(texts, string(k))
		}
		single, batch, batchStrs := one.Add, many.AddMany, strs.AddStrings
		switch round % 3 {
		case 1:
			single, batch, batchStrs = one.Contains, many.ContainsMany, strs.ContainsStrings
		case 2:
			single, batch, batchStrs = one.Remove, many.RemoveMany, strs.RemoveStrings
		}
		want, got, gotStrs, count := make([]bool, len(keys)), make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			if want[i] = single(k); want[i] {
				count++
			}
		}
		if round%2 == 0 {
			got, gotStrs = nil, nil // only how many
		}
		if n, m := batch(keys, got), batchStrs(texts, gotStrs); n != count || m != count {
			t.Fatalf("round %d: %d and %d of %d, want %d", round, n, m, len(keys), count)
		}
		if got != nil && (!slices.Equal(got, want) || !slices.Equal(gotStrs, want)) {
			t.Fatalf("round %d: %v and %v, want %v", round, got, gotStrs, want)
		}
	}
	defer func() {
		if got, want := recover(), "counting: room for 1 answers to 2 keys, want as many, or nil"; got != want {
			t.Errorf("panic: %v, want %q", got, want)
		}
	}()
	one.AddMany([][]byte{{1}, {2}}, make([]bool, 1))
}
