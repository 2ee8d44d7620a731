package rotating

import (
	"math"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
)

func TestBadParameters(t *testing.T) {
	for _, c := range []struct {
		n           uint64
		p           float64
		window      time.Duration
		generations int
		opt         Option
		want        error
		text        string
	}{
		{1, 0.1, 0, 1, WithClock(nil), bloom.ErrInvalid, "window = 0s"},
		{1, 0.1, -1, 1, WithClock(nil), bloom.ErrInvalid, "window = -1ns"},
		{1, 0.1, time.Hour, 0, WithClock(nil), bloom.ErrInvalid, "generations = 0"},
		{1, 0.1, time.Hour, 1001, WithClock(nil), bloom.ErrInvalid, "generations = 1001"},
		{1, 0.1, 9, 10, WithClock(nil), bloom.ErrInvalid, "window = 9ns"},
		{1, 0, time.Hour, 1, WithClock(nil), bloom.ErrInvalid, "p = 0"},
		{1, 1, time.Hour, 1, WithClock(nil), bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), time.Hour, 1, WithClock(nil), bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, time.Hour, 1, WithBloom(bloom.WithStrategy(bloom.SeededHashing)), bloom.ErrInvalid, "seeded-hashing"},
		{1, 0.1, time.Hour, 1, nil, bloom.ErrInvalid, "option 2 of 2 is nil"},
		{1 << 50, 0.1, time.Hour, 1, WithClock(nil), bloom.ErrTooLarge, "bytes"},
		{math.MaxUint64, 0.1, time.Hour, 1, WithClock(nil), bloom.ErrTooLarge, "n = "},
		{7, 1e-19, time.Hour, 4, WithClock(nil), bloom.ErrInvalid, "in layer 12 of a filter for n = 7 keys at p = 1e-19"},
		{1000, 0.1, time.Hour, 1, WithBloom(bloom.WithMaxBytes(1000)), bloom.ErrTooLarge, "want at most 1000"},
		{1000, 1e-7, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.SplitBlock)), bloom.ErrInvalid, "in layer 12 of a filter for n = 1000 keys at p = 1e-07"},
		{1000, 9e-5, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.SplitBlock)), bloom.ErrInvalid, "in layer 12 of"},
		{1000, 9e-10, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.Blocked)), bloom.ErrInvalid, "in layer 12 of"},
		{1000, 9.2e-5, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.SplitBlock)), nil, ""},
		{1000, 9.2e-10, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.Blocked)), nil, ""},
	} {
		_, err := New(c.n, c.p, c.window, WithGenerations(c.generations), c.opt)
		if c.want == nil {
			require.NoError(t, err)
			continue
		}
		conformance.Refused(t, err, c.want, c.text)
	}
}
