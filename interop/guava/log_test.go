package guava

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// ties returns values of p next to which k changes: those around 2^-(j+1/2), at most so
// many units in the last place away.
func ties(units int) (list []float64) {
	for j := range 255 {
		p := math.Exp2(-float64(j) - 0.5)
		for range units {
			p = math.Nextafter(p, 0)
		}
		for range 2*units + 1 {
			list = append(list, p)
			p = math.Nextafter(p, 1)
		}
	}
	return list
}

// These are Guava 33.4.6's, on a JVM; with math.Log, k would be another one.
func TestKAtATie(t *testing.T) {
	for _, n := range []uint64{1, 2, 1000, 1e9} {
		params, err := Params(n, 0.005524271728019906, Since33_4)
		require.NoError(t, err)
		require.Equal(t, 7, params.K)
	}
}
