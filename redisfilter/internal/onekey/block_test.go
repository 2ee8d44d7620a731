package onekey

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestWords: every key has bits in as many words as the scripts are made for, whatever the rate.
func TestWords(t *testing.T) {
	for _, strategy := range blocked {
		for _, p := range []float64{0.99, 0.5, 0.1, 0.01, 1e-3, 1e-4} {
			s, err := bloom.NewScheme(1000, p, bloom.WithStrategy(strategy))
			require.NoError(t, err)
			words, err := Words(s)
			require.NoError(t, err)
			for i := range 200 {
				h1, h2 := Hash(s, redistest.KeyOf(i))
				positions := s.AppendDigestPositions(nil, h1, h2)
				b := BlockOf(positions)
				used := 0
				for _, mask := range b.Masks {
					if mask != 0 {
						used++
					}
				}
				require.Equal(t, words, used, "%s, p = %v", strategy, p)
				first, last := b.Span()
				for _, pos := range positions {
					require.Equal(t, b.Index, pos/512)
					require.NotZero(t, b.Masks[pos%512/64]>>(pos%64)&1)
					require.LessOrEqual(t, first, int(pos%512/64))
					require.GreaterOrEqual(t, last, int(pos%512/64))
				}
			}
		}
	}
}
