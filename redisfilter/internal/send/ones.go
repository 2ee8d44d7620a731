package send

import (
	"context"
	"fmt"
)

// countBytes is how much of a value is counted by one command: about 1 ms.
const countBytes = 4 << 20

// Ones counts the bits that are set in bytes [from, to) of a key, in pieces.
func (s *Sender) Ones(ctx context.Context, key string, from, to uint64, counts *Counters) (ones uint64, err error) {
	for ; from < to; from += countBytes {
		counts.RoundTrips.Add(1)
		v, err := s.Do(ctx, "BITCOUNT", key, from, min(from+countBytes, to)-1)
		if err != nil {
			return 0, Explain(key, err)
		}
		n, ok := v.(int64)
		if !ok {
			return 0, fmt.Errorf("redisfilter: key %q: BITCOUNT answered %T, want an integer", key, v)
		}
		ones += uint64(n)
	}
	return ones, nil
}
