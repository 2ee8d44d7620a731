package redistest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// OneWinner lets handles of one set add the same keys, the first ones of the sequence, each in an
// order of its own and in batches of up to 60: each key has one winner.
func OneWinner[S Set](t *testing.T, seed uint64, keys int, handles []S) {
	t.Helper()
	won := make([]atomic.Int64, keys)
	var all sync.WaitGroup
	for h, f := range handles {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(h)))
			order := random.Perm(keys)
			for len(order) > 0 {
				n := min(1+random.IntN(60), len(order))
				batch := make([][]byte, n)
				for i, k := range order[:n] {
					batch[i] = KeyOf(k)
				}
				added := make([]bool, n)
				if _, err := f.AddMany(context.Background(), batch, added); err != nil {
					t.Error(err)
					return
				}
				for i, k := range order[:n] {
					if added[i] {
						won[k].Add(1)
					}
				}
				order = order[n:]
			}
		})
	}
	all.Wait()
	for k := range won {
		require.EqualValues(t, 1, won[k].Load(), "key %d", k)
	}
}
