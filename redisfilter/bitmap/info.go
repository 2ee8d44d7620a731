package bitmap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Info is what [Filter.Info] has found out.
type Info struct {
	// M is that of the layout, and with Positions of one's own what the value has. N and P are
	// those of the scheme, if they are known: the bitmap itself does not tell. SizeBytes
	// is the length of the value.
	bloom.Stats

	Name    string    `json:"name"`
	Expires time.Time `json:"expires"` // zero for never
}

// String describes the filter in a line for a log.
func (i Info) String() string {
	expires := "never"
	if !i.Expires.IsZero() {
		expires = i.Expires.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("bitmap.Info(%q m=%d k=%d bytes=%d expires=%s fill=%.3f keys≈%d rate≈%.2g)",
		i.Name, i.M, i.K, i.SizeBytes, expires, i.FillRatio, i.EstimatedCount, i.EstimatedFalsePositiveRate)
}

// LogValue lets slog write the fields as a group.
func (i Info) LogValue() slog.Value {
	return send.LogValue(i.Name, i.Stats, slog.Time("expires", i.Expires))
}

// Info counts the bits that are set and estimates from them how many keys are in and how often
// the filter errs now. The server counts; it takes about 0.2 ms for each MiB, in commands of a
// millisecond. A bitmap that is missing is an empty filter.
func (f *Filter) Info(ctx context.Context) (Info, error) {
	length := redis.NewIntCmd(ctx, "STRLEN", f.key)
	left := redis.NewIntCmd(ctx, "PTTL", f.key)
	f.counts.RoundTrips.Add(1)
	err := f.sender.Ask(ctx, []*send.Command{{Key: f.key, Cmd: length}, {Key: f.key, Cmd: left}})
	if err == nil {
		err = length.Err()
	}
	if err == nil {
		err = left.Err()
	}
	if err != nil {
		return Info{}, send.Explain(f.key, err)
	}
	info := Info{Name: f.key}
	info.SizeBytes = uint64(length.Val())
	if left.Val() >= 0 {
		now := time.Now().UnixMilli() // a TTL may be longer than a time.Duration
		info.Expires = time.UnixMilli(now + min(left.Val(), math.MaxInt64-now))
	}
	info.M, info.K = 8*info.SizeBytes, f.k
	estimate, rate := bloom.DoubleHashing.EstimatedN, rate.Textbook
	switch p := f.positions.(type) {
	case bloom.Scheme:
		info.N, info.P, info.M = p.Params().N, p.Params().P, p.Params().M
		info.Strategy, info.Hash = p.Strategy().Name(), p.Hash().Name()
		estimate, rate = p.Strategy().EstimatedN, p.Strategy().FalsePositiveRate
	case goZero:
		info.M = uint64(p)
	}
	if info.Ones, err = f.sender.Ones(ctx, f.key, 0, info.SizeBytes, &f.counts); err != nil || info.M == 0 {
		return info, err
	}
	info.FillRatio = float64(info.Ones) / float64(info.M)
	n := estimate(info.M, info.K, min(info.Ones, info.M))
	info.EstimatedCount, info.EstimatedFalsePositiveRate = math.MaxUint64, 1
	if n < math.MaxUint64 {
		info.EstimatedCount = uint64(math.Round(n))
		info.EstimatedFalsePositiveRate = rate(info.M, info.K, info.EstimatedCount)
	}
	return info, nil
}

// Stats returns that part of [Filter.Info] which all filters have.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	info, err := f.Info(ctx)
	return info.Stats, err
}

// Counts returns what the filter has done up to now; FrontHits and Lost are always 0. It costs
// nothing worth naming.
func (f *Filter) Counts() redisfilter.Counts { return redisfilter.Counts(f.counts.Load()) }

// EachCount calls yield with each of the counts and its name: what package prombloom makes metrics
// of.
func (f *Filter) EachCount(yield func(name string, value float64)) { f.counts.EachCount(yield) }

// Delete removes the bitmap from Redis, for everybody, also for the service that made it: the
// filter is empty then. What holds no string is left alone; the error wraps
// redisfilter.ErrMismatch. It is tried ten times if others add meanwhile.
func (f *Filter) Delete(ctx context.Context) error {
	var err error
	for range send.JoinTries {
		f.counts.RoundTrips.Add(1)
		err = f.sender.Watch(ctx, func(tx *redis.Tx) error {
			if err := tx.StrLen(ctx, f.key).Err(); err != nil {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Unlink(ctx, f.key)
				return nil
			})
			return err
		}, f.key)
		if !errors.Is(err, redis.TxFailedErr) {
			return send.Explain(f.key, err)
		}
	}
	return fmt.Errorf("redisfilter: key %q: others added to it in each of %d tries, and nothing was deleted: %w", f.key, send.JoinTries, err)
}
