package window

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/seed3447c163/bloom"
)

// Stats reads the whole value, in pieces of about 1 MiB, and returns what a service wants to
// watch. N and P are those of [Open], K is that of each generation; M, Ones, FillRatio and the
// estimates are of the generations that are remembered. SizeBytes is what the value takes. The
// error is as that of [Filter.Contains].
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	l := f.life.Load()
	now, err := f.now(ctx, l)
	if err != nil {
		return bloom.Stats{}, err
	}
	g := uint64(f.plan.generations)
	ones := make([]uint64, g+1) // by place
	step := max(1, (1<<20)/f.layout.record) * f.layout.record
	for from := uint64(headerBytes); from < f.layout.table; from += step {
		to := min(from+step, f.layout.table)
		piece, err := f.sender.GetRange(ctx, f.name, from, to-1)
		if err != nil {
			return bloom.Stats{}, err
		}
		if uint64(len(piece)) != to-from {
			return bloom.Stats{}, f.noticed()
		}
		for b := []byte(piece); len(b) > 0; b = b[f.layout.record:] {
			f.count(ones, b[:f.layout.record], now)
		}
	}
	if _, err := f.now(ctx, l); err != nil { // it was the same one all the time
		return bloom.Stats{}, err
	}
	each := f.scheme.Params()
	s := bloom.Stats{N: f.plan.n, P: f.plan.p, M: each.M * (g + 1), K: each.K, SizeBytes: f.layout.length}
	s.Strategy, s.Hash = f.scheme.Strategy().Name(), f.scheme.HashFunc().Name()
	keys, right := 0.0, 1.0
	for _, n := range ones {
		s.Ones += n
		estimate, rate := f.scheme.Strategy().EstimatedN(each.M, each.K, n), 1.0
		if estimate < math.MaxUint64 {
			rate = f.scheme.Strategy().FalsePositiveRate(each.M, each.K, uint64(math.Round(estimate)))
		}
		keys += estimate
		right *= 1 - rate
	}
	s.FillRatio = float64(s.Ones) / float64(s.M)
	s.EstimatedFalsePositiveRate = 1 - right
	if s.EstimatedCount = math.MaxUint64; keys < math.MaxUint64 {
		s.EstimatedCount = uint64(math.Round(keys))
	}
	return s, nil
}

// count counts the bits of a record that are remembered in this generation.
func (f *Filter) count(ones []uint64, record []byte, now uint64) {
	places := uint64(len(ones))
	stamp := uint64(math.Float64frombits(binary.LittleEndian.Uint64(record)))
	for g := max(now, stamp) - (places - 1); g <= stamp; g++ {
		place := g % places
		for b := record[8+place*placeBytes:][:placeBytes]; len(b) > 0; b = b[8:] {
			ones[place] += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(b)))
		}
	}
}

// now returns the generation, by the server's clock.
func (f *Filter) now(ctx context.Context, l *life) (uint64, error) {
	if l.lost.Load() {
		return 0, f.noticed()
	}
	v, err := f.run(ctx, f.scripts.now, f.common(l)...)
	if err != nil {
		return 0, f.explain(l, err)
	}
	now, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
	if err != nil || now < uint64(f.plan.generations) {
		return 0, fmt.Errorf("redisbloom/window: key %q: generation %q, want a number of at least %d", f.name, fmt.Sprint(v), f.plan.generations)
	}
	return now, nil
}
