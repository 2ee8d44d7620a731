package foreign

import "math"

// Log returns the natural logarithm of x > 0, correctly rounded.
//
// Other systems compute m and k from logarithms in float64. If a result is close to a whole number or a half, one unit
// in the last place decides. For one x in a hundred, math.Log is off by one unit; the logarithms of the JVM and of the
// C library are not.
//
// Log splits x into 2^e·f with f near 1. It sums the series of ln f = 2·artanh((f-1)/(f+1)) in pairs of float64, at
// twice the precision.
func Log(x float64) float64 {
	f, e := math.Frexp(x) // also right for subnormal numbers
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	s := exactSum(f, -1).over(exactSum(f, 1))
	square := s.times(s)
	var sum pair
	for i := 41; i >= 1; i -= 2 { // enough, because |s| < 0.172: the next term is below 2^-110
		sum = sum.times(square).plus(pair{1, 0}.over(pair{float64(i), 0}))
	}
	whole := pair{math.Ln2, ln2Rest}.times(pair{float64(e), 0})
	return whole.plus(sum.times(s).times(pair{2, 0})).high
}

// ln2Rest is ln 2 minus its nearest float64.
const ln2Rest = 2.319046813846299558e-17

// A pair is the number high + low. low is at most half a unit in the last place of high.
type pair struct{ high, low float64 }

// exactSum returns a+b without rounding.
//
// Source: Knuth, "The art of computer programming", volume 2, section 4.2.2, theorem B.
func exactSum(a, b float64) pair {
	sum := a + b
	fromB := sum - a
	return pair{sum, (a - (sum - fromB)) + (b - fromB)}
}

func (a pair) plus(b pair) pair {
	sum := exactSum(a.high, b.high)
	return exactSum(sum.high, sum.low+a.low+b.low)
}

func (a pair) times(b pair) pair {
	product := float64(a.high * b.high)
	rest := math.FMA(a.high, b.high, -product)
	return exactSum(product, rest+(float64(a.high*b.low)+float64(a.low*b.high)))
}

func (a pair) over(b pair) pair {
	quotient := a.high / b.high
	rest := math.FMA(-quotient, b.high, a.high) + a.low - float64(quotient*b.low)
	return exactSum(quotient, rest/b.high)
}
