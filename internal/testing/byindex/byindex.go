// Package byindex defines strategies for tests by a function for each position.
package byindex

// Positions returns the Positions of a definition whose i-th position, i < k, is
// index(h1, h2, i, m).
func Positions(index func(h1, h2 uint64, i int, m uint64) uint64) func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
	return func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
			var four [4]uint64
			for j := range min(4, k-i) {
				four[j] = index(h1, h2, i+j, m)
			}
			return four[0], four[1], four[2], four[3]
		}, nil
	}
}
