package probe

// Widen makes the second half of a digest from a first half of 64 good bits:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// The high half of the product depends on nearly all bits of h1, its low half on the low
// ones alone. The shift puts both together, so that h2 looks random among keys whose h1
// agree in whatever bits a strategy takes from it. (To rotate the product, which is as
// fast, is not enough: a strategy that takes the low bits of h1 and the high ones of h2
// has 1.2 times its rate. Nor is every multiplier good: TestMapHashWithinABlock of package
// bloom.) The multiplier is not that of DoubleHashing, whose second position would otherwise
// follow from the first.
func Widen(h1 uint64) uint64 {
	x := (h1 ^ Xor) * 0x9e3779b185ebca87
	return x ^ x>>32
}
