package send

import (
	"context"
	"math"

	"github.com/seed3447c163/bloom"
)

// countBytes is the number of bytes that one command counts, in about 1 ms.
const countBytes = 4 << 20

// Ones counts the set bits in the bytes [from, to) of a value, with several commands.
func (s *Sender) Ones(ctx context.Context, key string, from, to uint64) (ones uint64, err error) {
	for ; from < to; from += countBytes {
		n, err := Do[int64](ctx, s, key, "BITCOUNT", key, from, min(from+countBytes, to)-1)
		if err != nil {
			return 0, err
		}
		ones += uint64(n)
	}
	return ones, nil
}

// Estimate returns the most likely number of keys for the given number of set bits, and the rate for it. If all bits
// are set, it returns math.MaxUint64 and 1.
func Estimate(s bloom.Strategy, m uint64, k int, ones uint64) (keys uint64, rate float64) {
	n := math.Round(s.EstimateCount(m, k, min(ones, m)))
	if !(n < math.MaxUint64) {
		return math.MaxUint64, 1
	}
	return uint64(n), s.FalsePositiveRate(m, k, uint64(n))
}
