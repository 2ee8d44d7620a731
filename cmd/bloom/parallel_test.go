package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
)

// TestParallelAdderIsSequential: the answers and the bits are those of one key after the
// other, in filters so full that many keys are dropped, for chunks of every size.
func TestParallelAdderIsSequential(t *testing.T) {
	for _, s := range append(slices.Clone(strategies), bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8) {
		for _, n := range []uint64{1, 10, 3000, 100_000} {
			for _, workers := range []int{1, 2, 5} {
				want, err := bloom.New(n, 0.01, bloom.WithStrategy(s))
				if err != nil {
					t.Fatal(err)
				}
				got, err := want.Scheme().Filter()
				if err != nil {
					t.Fatal(err)
				}
				a := newParallelAdder(got, workers)
				defer a.close()
				rng := rand.New(rand.NewPCG(1, 2))
				for round := range 12 {
					keys := make([][]byte, []int{1, 2, 64, 1000, maxChunk}[round%5])
					for i := range keys {
						keys[i] = fmt.Append(nil, rng.IntN(20_000))
					}
					var c chunk
					if rest := c.fill(keys, 0); len(rest) > 0 {
						t.Fatalf("%d keys are left of %d", len(rest), len(keys))
					}
					a.start(&c)
					<-c.done
					should, countShould := make([]bool, len(keys)), 0
					for i, key := range keys {
						if should[i] = want.Add(key); should[i] {
							countShould++
						}
					}
					if c.count != countShould || !slices.Equal(c.added, should) {
						t.Fatalf("%v, n = %d, %d workers, round %d: %d new, want %d", s, n, workers, round, c.count, countShould)
					}
				}
				if !got.Equal(want) {
					t.Fatalf("%v, n = %d, %d workers: other bits", s, n, workers)
				}
			}
		}
	}
}
