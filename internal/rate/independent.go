// Package rate computes the false-positive rates of filters, as functions of numbers alone.
//
// m is the number of bits, k the number of positions per key, and n the number of keys. m and k are at least 1.
//
// Filters are sized by these results, so they must be the same on every architecture: the functions are from package
// floats, and a product is converted to float64 before it is added.
package rate

import "github.com/seed3447c163/bloom/internal/rate/floats"

// Independent returns the expected false-positive rate of n keys with k independent uniform positions each: E[(X/m)^k],
// where X is the number of set bits. The textbook's (E[X]/m)^k is always less.
//
// Below 40 keys, the result is exact and takes k·k·n steps. For more keys, it takes less than a microsecond and is not
// below the exact rate. Its relative error is at most 0.014·(k/n)², for which New adds less than 0.02·k²/n bits to m.
// For k > 64, as in filters of other systems, the result can be too low by a relative error of 5e-6.
func Independent(m uint64, k int, n uint64) float64 {
	switch {
	case n == 0:
		return 0
	case float64(k)*float64(n) > float64(m)*(floats.Log(float64(m))+50):
		return 1 // all bits are set, up to 1e-20
	case n < 40 || m < 4*uint64(k):
		return stepwise(m, k, n)
	}
	// The relative error of the expansion is at most 0.0068·(k/n)², see TestIndependentIsNeverBelow.
	share := float64(k) / float64(n)
	return min(1, expanded(m, k, n)*(1+float64(0.007*share*share)))
}

// Double returns the rate of DoubleHashing. The positions are a congruential sequence modulo 2^64 whose period is full
// for nearly all digests. If (C-1)·h1 + h2, where C is the multiplier, is a multiple of 2^(64-j), the period divides
// 2^j and the key has at most 2^j different positions. This happens for one of 2^(64-j) digests, and matters for rates
// below 1e-16.
//
// Source for the period: Knuth, "The art of computer programming", volume 2, section 3.2.1.2.
func Double(m uint64, k int, n uint64) float64 {
	rate := Independent(m, k, n)
	fill, share := Ones(m, k, n)/float64(m), 0x1p-64
	for positions := 1; positions < k; positions *= 2 {
		rate += float64(share * fill)
		fill = float64(fill * fill)
		share = 0x1p-64 * float64(positions) // of digests with this period and no shorter one
	}
	return min(1, rate)
}

// zero returns the probability that none of t balls falls into j given bins of m: (1 - j/m)^t.
func zero(j, m, t float64) float64 {
	if t == 0 {
		return 1 // also for m = j, where the logarithm below is infinite
	}
	return floats.Exp(t * floats.Log1p(-j/m))
}

// Ones returns the expected number of set bits after n keys: m·(1 - (1 - 1/m)^(kn)).
func Ones(m uint64, k int, n uint64) float64 {
	if n == 0 || k == 0 {
		return 0
	}
	return -float64(m) * floats.Expm1(float64(k)*float64(n)*floats.Log1p(-1/float64(m)))
}

// expanded approximates [Independent] by the delta method, to second order around μ = E[X]: (μ/m)^k · (1 + k(k-1)/2 ·
// σ²/μ²). μ and σ² are the exact mean and variance of the number of occupied bins after kn balls.
//
// Source for mean and variance: Johnson & Kotz 1977, "Urn models and their
// application", section 3.2.
func expanded(bits uint64, k int, n uint64) float64 {
	if bits == 1 {
		return 1 // for one bit, the formula of the variance below is 0/0
	}
	m, balls := float64(bits), float64(k)*float64(n)
	q1, q2 := zero(1, m, balls), zero(2, m, balls)
	mean := Ones(bits, k, n)
	// q12 is m(m-1)q2 - m²q1², computed without a difference of nearly equal numbers: q2/q1² = (1 - 1/(m-1)²)^balls.
	q12 := float64(m * m * q1 * q1 * floats.Expm1(balls*floats.Log1p(-1/((m-1)*(m-1)))))
	variance := float64(m*q1) - float64(m*q2) + q12
	return floats.Pow(mean/m, k) * (1 + float64(k*(k-1))/2*variance/(mean*mean))
}

// stepwise is [Independent] without approximation, in O(k·kn) steps. All terms are positive. The k positions of a new
// key are j different bits. The kn balls of the other keys must cover them:
//
//	Σ_j P(k probes hit exactly j bits) · P(kn balls cover j given bits)
func stepwise(bits uint64, k int, n uint64) float64 {
	m := float64(bits)
	var buf, coverBuf [256]float64
	probes, cover := distinct(&buf, m, k), room(&coverBuf, k)
	// cover[j] is the probability that the balls so far cover j given bits. The next ball
	// hits one of them with probability j/m, and then the others must cover j-1 bits.
	top := int(min(uint64(k), bits))
	cover[0] = 1
	for range uint64(k) * n {
		for j := top; j >= 1; j-- {
			cover[j] += float64(float64(j) / m * (cover[j-1] - cover[j]))
		}
	}
	rate := 0.0
	for j := 1; j <= top; j++ {
		rate += float64(probes[j] * cover[j])
	}
	return rate
}

// distinct returns the probabilities that k balls hit exactly j of m bins, for j = 0 to k, in O(k²).
func distinct(buf *[256]float64, m float64, k int) []float64 {
	d := room(buf, k)
	d[0] = 1
	each, top := 1/m, int(min(float64(k), m))
	for i := range k {
		for j := min(i+1, top); j >= 1; j-- {
			d[j] = float64(each*float64(j)*d[j]) + float64((1-float64(each*float64(j-1)))*d[j-1])
		}
		d[0] = 0
	}
	return d
}

// room returns k+1 zeros, in buf if it is large enough.
func room(buf *[256]float64, k int) []float64 {
	if k < len(buf) {
		return buf[:k+1]
	}
	return make([]float64, k+1)
}

// Textbook returns the textbook's rate after n keys, (1 - e^(-kn/m))^k. It is below Independent: by less than 1 % for n
// >= 1000 and p >= 1e-6, many times for a few keys.
//
// Source: Broder & Mitzenmacher 2004, section 2; for its error, Bose et al. 2008.
func Textbook(m uint64, k int, n uint64) float64 {
	return floats.Pow(-floats.Expm1(-float64(k)*float64(n)/float64(m)), k)
}
