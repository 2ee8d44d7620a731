package foreign

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLog compares with the logarithm in 200 bits, by the series itself.
func TestLog(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cases := append(halves(), 1, 0.5, 0.01, 0.03, 0x1p-1022, 0x1p-1074, 0x1.8p-1050, math.Nextafter(1, 0), math.Nextafter(1, 0.5), 0.7071067811865475, 0.7071067811865476)
	for range 2000 {
		cases = append(cases, math.Exp(-math.Exp(r.Float64()*11-5)))
	}
	differ := 0
	for _, x := range cases {
		want, _ := bigLog(x).Float64()
		if got := Log(x); got != want {
			t.Fatalf("Log(%v) = %v, want %v", x, got, want)
		}
		if math.Log(x) != want {
			differ++
		}
	}
	require.Positive(t, differ, "math.Log would do")
	require.Equal(t, -744.4400719213812, Log(math.SmallestNonzeroFloat64))
}

// bigLog is ln x by 2·artanh, with 240 bits.
func bigLog(x float64) *big.Float {
	const precision = 240
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	artanh2 := func(f *big.Float) *big.Float {
		s := number(0).Quo(number(0).Sub(f, number(1)), number(0).Add(f, number(1)))
		square, power, sum := number(0).Mul(s, s), number(0).Set(s), number(0)
		for i := 1.0; power.MantExp(nil) > -precision; i += 2 {
			sum.Add(sum, number(0).Quo(power, number(i)))
			power.Mul(power, square)
		}
		return sum.Mul(sum, number(2))
	}
	f, e := math.Frexp(x)
	whole := number(0).Mul(artanh2(number(2)), number(float64(e)))
	return whole.Add(whole, artanh2(number(f)))
}

// halves are x next to 2^-(j+1/2), where log2 is close to a half.
func halves() (list []float64) {
	for j := range 255 {
		x := math.Exp2(-float64(j) - 0.5)
		list = append(list, math.Nextafter(x, 0), x, math.Nextafter(x, 1))
	}
	return list
}
