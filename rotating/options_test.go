package rotating

import (
	"math"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/frametest"
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
		{7, 1e-19, time.Hour, 4, WithClock(nil), bloom.ErrInvalid, "in each of 12 layers of a filter for n = 7 keys at p = 1e-19"},
		{1000, 0.1, time.Hour, 1, WithBloom(bloom.WithMaxBytes(1000)), bloom.ErrTooLarge, "want at most 1000"},
	} {
		_, err := New(c.n, c.p, c.window, WithGenerations(c.generations), c.opt)
		frametest.Refused(t, err, c.want, c.text)
	}
}
