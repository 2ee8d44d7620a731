package bloom

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

// TestRecentSchemes: what is remembered is what would be made anew, for every request, in
// whatever order and by however many goroutines they come.
func TestRecentSchemes(t *testing.T) {
	var hashes = [][]Option{nil, {WithSeed(7)}, {WithHash(MapHash)}}
	strategies := []Strategy{DoubleHashing, Blocked, Blocked4, NewStrategy("", Definition{Positions: byindex.Positions(doubleIndex)}), NewStrategy("", Definition{Positions: byindex.Positions(doubleIndex)})}
	fresh := map[string]string{}
	request := func(i int) (name string, s Scheme) {
		n, p := uint64(1+i%97), []float64{0.1, 0.01, 1e-3}[i%3]
		strategy, hash := i/3%len(strategies), i/15%len(hashes)
		s, err := NewScheme(n, p, append([]Option{WithStrategy(strategies[strategy])}, hashes[hash]...)...)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(n, p, strategy, hash), s
	}
	describe := func(s Scheme) string { return fmt.Sprint(s.Params(), s.Identity()) }
	const requests = 5000
	for i := range requests {
		for place := range recentSchemes {
			recentSchemes[place].Store(nil)
		}
		name, s := request(i)
		fresh[name] = describe(s)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range requests {
				name, s := request(i * (1 + 2*g) % requests / (1 + i%3))
				if got := describe(s); got != fresh[name] {
					t.Errorf("%s: %s, want %s", name, got, fresh[name])
				}
			}
		})
	}
	wg.Wait()
	if same, again := MustNew(9, 0.2), MustNew(9, 0.2); same.scheme != again.scheme {
		t.Error("the same request, and nothing between, made a new scheme")
	}
	if keyed, again := MustNew(9, 0.2, WithKey(testKey)), MustNew(9, 0.2, WithKey(testKey)); keyed.scheme == again.scheme {
		t.Error("a scheme with a secret key was kept")
	}
	_, err := New(9, 0.2, WithMaxBytes(1))
	require.ErrorIs(t, err, ErrTooLarge)
}

func BenchmarkNewSmall(b *testing.B) {
	for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked} {
		for _, n := range []uint64{16, 100, 1000} {
			b.Run(fmt.Sprintf("strategy=%s/n=%d/asked=again", s, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					MustNew(n, 0.01, WithStrategy(s))
				}
			})
			b.Run(fmt.Sprintf("strategy=%s/n=%d/asked=first", s, n), func(b *testing.B) {
				b.ReportAllocs()
				p := 0.01
				for b.Loop() {
					p = math.Nextafter(p, 1)
					MustNew(n, p, WithStrategy(s))
				}
			})
		}
	}
	b.Run("strategy=default/n=100/asked=again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			MustNew(100, 0.01)
		}
	})
}
