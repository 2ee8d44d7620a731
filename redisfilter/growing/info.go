package growing

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Info is what [Filter.Info] has found out.
type Info struct {
	// Of all layers together. N is how many keys they are for: when there are more, the
	// filter grows. K is that of the newest; SizeBytes is what the value takes in Redis. EstimatedCount is how
	// many adds have returned true.
	bloom.Stats

	Name    string    `json:"name"`
	Layers  int       `json:"layers"`
	Handles int       `json:"handles"` // that have added, of those whose slots were not given to others
	Expires time.Time `json:"expires"` // zero for never
}

// String describes the filter in a line for a log.
func (i Info) String() string {
	expires := "never"
	if !i.Expires.IsZero() {
		expires = i.Expires.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("growing.Info(%q n=%d p=%g layers=%d strategy=%s bytes=%d handles=%d expires=%s fill=%.3f keys=%d rate≈%.2g)",
		i.Name, i.N, i.P, i.Layers, i.Strategy, i.SizeBytes, i.Handles, expires, i.FillRatio, i.EstimatedCount, i.EstimatedFalsePositiveRate)
}

// LogValue lets slog write the fields as a group.
func (i Info) LogValue() slog.Value {
	return send.LogValue(i.Name, i.Stats, slog.Int("layers", i.Layers), slog.Int("handles", i.Handles), slog.Time("expires", i.Expires))
}

// Info counts the bits that are set and estimates from them how often the filter errs now. The
// server counts; it takes about 0.2 ms for each MiB, in commands of a millisecond. The error is as
// that of [Filter.Contains].
func (f *Filter) Info(ctx context.Context) (Info, error) {
	l := f.life.Load()
	if _, err := f.ask(ctx, nil); err != nil {
		return Info{}, err
	}
	head, err := f.key.Read(ctx, 0, slotsAt+slots*slotBytes)
	if err != nil {
		return Info{}, err
	}
	h, ok := decodeHeader([]byte(head))
	if !ok || h.epoch != l.Epoch || len(head) != slotsAt+slots*slotBytes || !f.canHave(h.layers) {
		return Info{}, f.key.Lost(l.Life, onekey.Gone)
	}
	layers := (*f.planned.Load())[:h.layers]
	info := Info{
		Stats: bloom.Stats{P: f.p, Strategy: f.hash.Strategy().Name(), Hash: f.hash.Hash().Name(), SizeBytes: layers[len(layers)-1].length()},
		Name:  f.name, Layers: len(layers), Expires: l.expires,
	}
	right := 1.0
	for _, layer := range layers {
		ones, err := f.key.Sender.Ones(ctx, f.key.Name, layer.at, layer.end, &f.key.Counts)
		if err != nil {
			return Info{}, err
		}
		params := layer.scheme.Params()
		info.N += layer.keys
		info.M += params.M
		info.K = params.K
		info.Ones += ones
		rate := 1.0
		if n := layer.scheme.Strategy().EstimatedN(params.M, params.K, ones); n < math.MaxUint64 {
			rate = layer.scheme.Strategy().FalsePositiveRate(params.M, params.K, uint64(math.Round(n)))
		}
		right *= 1 - rate
	}
	for slot := head[slotsAt:]; slot != ""; slot = slot[slotBytes:] {
		if strings.Trim(slot[:8], "\x00") != "" {
			info.Handles++
		}
	}
	info.FillRatio = float64(info.Ones) / float64(info.M)
	info.EstimatedFalsePositiveRate = 1 - right
	info.EstimatedCount = info.N - min(h.left, info.N)
	if _, err := f.ask(ctx, nil); err != nil { // it was the same one all the time
		return Info{}, err
	}
	return info, nil
}

// Stats returns that part of [Filter.Info] which all filters have.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	info, err := f.Info(ctx)
	return info.Stats, err
}

// Counts returns what the filter has done up to now. It costs nothing worth naming.
func (f *Filter) Counts() redisfilter.Counts { return redisfilter.Counts(f.key.Counts.Load()) }

// EachCount calls yield with each of the counts and its name: what package prombloom makes metrics
// of.
func (f *Filter) EachCount(yield func(name string, value float64)) { f.key.Counts.EachCount(yield) }
