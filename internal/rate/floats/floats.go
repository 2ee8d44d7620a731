// Package floats has elementary functions with the same results on every architecture.
//
// Functions of package math may differ in the last digit: some architectures have them in assembly, and the compiler
// may fuse a product and a sum into one operation that rounds once instead of twice. A conversion of the product to
// float64 prevents that. The errors of these functions are below four units in the last place.
package floats

import "math"

// ln 2 as the sum of two numbers. The first has 32 bits, so its product with an exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

// expm1 returns e^r - 1 for |r| <= ln(2)/2, by e^r = (c + r)/(c - r) with c = r·coth(r/2). The series of c has the
// coefficients 2·B_2i/(2i)!, where B_2i are Bernoulli numbers.
func expm1(r float64) float64 {
	z := float64(r * r)
	c := -691.0 / 653837184000
	c = float64(c*z) + 1.0/23950080
	c = float64(c*z) - 1.0/604800
	c = float64(c*z) + 1.0/15120
	c = float64(c*z) - 1.0/360
	c = float64(c*z) + 1.0/6
	c = float64(c*z) + 2
	return 2 * r / (c - r)
}

// reduce returns k and r with x = k·ln 2 + r and |r| <= ln(2)/2.
func reduce(x float64) (k, r float64) {
	k = math.Floor(float64(x*math.Log2E) + 0.5)
	return k, x - float64(k*ln2High) - float64(k*ln2Low)
}

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case !(x < 710): // also NaN
		return x * math.Inf(1)
	case x < -746:
		return 0
	}
	k, r := reduce(x)
	return math.Ldexp(1+expm1(r), int(k))
}

// Expm1 returns e^x - 1. It is also precise for x near 0.
func Expm1(x float64) float64 {
	switch {
	case x == 0:
		return x
	case !(x < 700):
		return Exp(x)
	case x < -50:
		return -1
	}
	k, r := reduce(x)
	if k == 0 {
		return expm1(r)
	}
	scale := math.Float64frombits(uint64(int64(k)+1023) << 52) // 2^k
	return float64(scale*expm1(r)) + (scale - 1)
}

// artanh2 returns 2·artanh(s) for |s| < 0.175.
func artanh2(s float64) float64 {
	z := float64(s * s)
	sum := 1.0/3 + float64(z*(1.0/5+float64(z*(1.0/7))))
	if z > 0x1p-16 { // below, further terms are negligible
		sum = 1.0 / 21
		for i := 19.0; i >= 3; i -= 2 {
			sum = float64(sum*z) + 1/i
		}
	}
	return 2 * (s + float64(float64(s*z)*sum))
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	switch {
	case !(x > 0):
		return math.Log(x) // -Inf or NaN
	case x > math.MaxFloat64:
		return x
	}
	f, e := math.Frexp(x)
	return log(f, e, 0)
}

// Log1p returns the natural logarithm of 1 + x. It is also precise for x near 0.
func Log1p(x float64) float64 {
	switch {
	case -0.29 < x && x < 0.41:
		return artanh2(x / (2 + x))
	case !(x > -1) || x > math.MaxFloat64:
		return Log(1 + x)
	}
	sum := 1 + x
	f, e := math.Frexp(sum)
	return log(f, e, (x-(sum-1))/sum)
}

// log returns ln(f·2^e) + rest for 0.5 <= f < 1.
func log(f float64, e int, rest float64) float64 {
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	k := float64(e)
	return float64(k*ln2High) + (artanh2((f-1)/(f+1)) + (float64(k*ln2Low) + rest))
}

// Pow returns x to the k-th power, k >= 0.
func Pow(x float64, k int) float64 {
	y := 1.0
	for ; k > 0; k >>= 1 {
		if k&1 != 0 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// Root returns the k-th root of x > 0.
func Root(x float64, k int) float64 { return Exp(Log(x) / float64(k)) }
