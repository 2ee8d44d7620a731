package window

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Info is what [Filter.Info] has found out.
type Info struct {
	// N and P are those of [Open], K is that of each generation; M, Ones, FillRatio and the
	// estimates are of the generations that are remembered. SizeBytes is what the value takes.
	bloom.Stats

	Name        string        `json:"name"`
	Window      time.Duration `json:"window"` // in whole milliseconds for each generation
	Generations int           `json:"generations"`
	Handles     int           `json:"handles"` // that have added, of those whose slots were not given to others
}

// String describes the filter in a line for a log.
func (i Info) String() string {
	return fmt.Sprintf("window.Info(%q n=%d p=%g window=%v generations=%d strategy=%s bytes=%d handles=%d fill=%.3f keys≈%d rate≈%.2g)",
		i.Name, i.N, i.P, i.Window, i.Generations, i.Strategy, i.SizeBytes, i.Handles, i.FillRatio, i.EstimatedCount, i.EstimatedFalsePositiveRate)
}

// LogValue lets slog write the fields as a group.
func (i Info) LogValue() slog.Value {
	return send.LogValue(i.Name, i.Stats, slog.Duration("window", i.Window), slog.Int("generations", i.Generations), slog.Int("handles", i.Handles))
}

// Info reads the whole value, in pieces of about 1 MiB, and returns what a service wants to
// watch. The error is as that of [Filter.Contains].
func (f *Filter) Info(ctx context.Context) (Info, error) {
	l := f.life.Load()
	now, err := f.now(ctx, l)
	if err != nil {
		return Info{}, err
	}
	info := Info{Name: f.name, Window: f.header.window(), Generations: f.plan.generations}
	g := uint64(f.plan.generations)
	ones := make([]uint64, g+1) // by place
	step := max(1, (1<<20)/f.layout.record) * f.layout.record
	for from := uint64(headerBytes); from < f.layout.table; from += step {
		piece, err := f.piece(ctx, l, from, min(from+step, f.layout.table))
		if err != nil {
			return Info{}, err
		}
		for b := piece; len(b) > 0; b = b[f.layout.record:] {
			f.count(ones, b[:f.layout.record], now)
		}
	}
	slots, err := f.piece(ctx, l, f.layout.table, f.layout.end)
	if err != nil {
		return Info{}, err
	}
	for b := slots; len(b) > 0; b = b[slotBytes:] {
		if [8]byte(b) != [8]byte{} {
			info.Handles++
		}
	}
	if _, err := f.now(ctx, l); err != nil { // it was the same one all the time
		return Info{}, err
	}
	info.Stats = f.estimate(ones)
	return info, nil
}

// Stats returns that part of [Filter.Info] which all filters have.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	info, err := f.Info(ctx)
	return info.Stats, err
}

// Counts returns what the filter has done up to now, for metrics. There is no front: FrontHits
// is 0. It costs nothing worth naming.
func (f *Filter) Counts() redisfilter.Counts { return redisfilter.Counts(f.key.Counts.Load()) }

// EachCount calls yield with each of the counts and its name: what package prombloom makes metrics
// of.
func (f *Filter) EachCount(yield func(name string, value float64)) { f.key.Counts.EachCount(yield) }

// piece reads a part of the value.
func (f *Filter) piece(ctx context.Context, l *life, from, to uint64) ([]byte, error) {
	text, err := f.key.Read(ctx, from, to)
	if err == nil && uint64(len(text)) != to-from {
		err = f.key.Lost(l.Life, onekey.Gone)
	}
	return []byte(text), err
}

// estimate returns what so many bits say, which are set in the places.
func (f *Filter) estimate(ones []uint64) bloom.Stats {
	each := f.scheme.Params()
	s := bloom.Stats{N: f.plan.n, P: f.plan.p, M: each.M * uint64(len(ones)), K: each.K, SizeBytes: f.layout.length}
	s.Strategy, s.Hash = f.scheme.Strategy().Name(), f.scheme.Hash().Name()
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
	return s
}

// count counts the bits of a record that are remembered in this generation.
func (f *Filter) count(ones []uint64, record []byte, now uint64) {
	places := uint64(len(ones))
	written := math.Float64frombits(binary.LittleEndian.Uint64(record))
	if !(written >= 0 && written <= 1<<53) {
		return // no script has written this, or finds a key there
	}
	stamp := uint64(written)
	for g := max(now, stamp) - (places - 1); g <= stamp; g++ {
		place := g % places
		for b := record[8+place*placeBytes:][:placeBytes]; len(b) > 0; b = b[8:] {
			ones[place] += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(b)))
		}
	}
}

// now returns the generation, by the server's clock.
func (f *Filter) now(ctx context.Context, l *life) (uint64, error) {
	if err := f.key.Ready(ctx, l.Life); err != nil {
		return 0, err
	}
	v, err := f.key.Run(ctx, f.scripts.now, f.common(l)...)
	if err != nil {
		return 0, f.key.Explain(l.Life, err)
	}
	now, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
	if err != nil || now < uint64(f.plan.generations) {
		return 0, f.key.Errorf("generation %q, want a number of at least %d", fmt.Sprint(v), f.plan.generations)
	}
	return now, nil
}
