package rotating

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

func TestBadParameters(t *testing.T) {
	for _, c := range []struct {
		n           uint64
		p           float64
		window      time.Duration
		generations int
		opts        []Option
		want        error
		text        string
	}{
		{1, 0.1, 0, 1, nil, bloom.ErrInvalid, "window = 0s"},
		{1, 0.1, -1, 1, nil, bloom.ErrInvalid, "window = -1ns"},
		{1, 0.1, time.Hour, 0, nil, bloom.ErrInvalid, "generations = 0"},
		{1, 0.1, time.Hour, 1001, nil, bloom.ErrInvalid, "generations = 1001"},
		{1, 0.1, 9, 10, nil, bloom.ErrInvalid, "window = 9ns"},
		{1, 0, time.Hour, 1, nil, bloom.ErrInvalid, "p = 0"},
		{1, 1, time.Hour, 1, nil, bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), time.Hour, 1, nil, bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, time.Hour, 1, []Option{bloomOpts(bloom.WithStrategy(bloom.SeededHashing))}, bloom.ErrInvalid, "seeded-hashing"},
		{1, 0.1, time.Hour, 1, []Option{nil}, bloom.ErrInvalid, "option 2 of 2 is nil"},
		{1 << 50, 0.1, time.Hour, 1, nil, bloom.ErrTooLarge, "bytes"},
		{7, 1e-19, time.Hour, 4, nil, bloom.ErrInvalid, "in each of 12 layers of a filter for n = 7 keys at p = 1e-19"},
		{1000, 0.1, time.Hour, 1, []Option{bloomOpts(bloom.WithMaxBytes(1000))}, bloom.ErrTooLarge, "want at most 1000"},
	} {
		f, err := New(c.n, c.p, c.window, append([]Option{WithGenerations(c.generations)}, c.opts...)...)
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Count(err.Error(), "bloom: ") != 1 {
			t.Errorf("New(%d, %v, %v, %d): %v, %v; want %v with %q", c.n, c.p, c.window, c.generations, f, err, c.want, c.text)
		}
	}
}

// TestMaxBytes: a filter takes no more than it may, however many keys come.
func TestMaxBytes(t *testing.T) {
	var c clock
	all := 12 * must(30, 0.01, time.Hour, 3).SizeBytes() // four per generation
	limit := func(bytes uint64) Option { return bloomOpts(bloom.WithMaxBytes(bytes)) }
	if f, err := New(30, 0.01, time.Hour, WithGenerations(3), limit(all-1)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("with a byte too few: %v, %v", f, err)
	}
	f := must(30, 0.01, time.Hour, 3, c.option(), limit(all))
	var b [16]byte
	most := uint64(0)
	for i := range uint64(20_000) {
		f.Renew(key(&b, i))
		if i%300 == 0 {
			c.sleep(f.time.length)
		}
		most = max(most, f.SizeBytes())
	}
	if most > all || most < all*3/4 {
		t.Errorf("%d bytes at most, want no more than %d and not much less", most, all)
	}
	data := written(t, f)
	if f, err := Read(bytes.NewReader(data), c.option(), limit(all-1)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("read with a byte too few: %v, %v", f, err)
	}
	if _, err := Read(bytes.NewReader(data), c.option(), limit(all)); err != nil {
		t.Errorf("read with enough: %v", err)
	}
}
