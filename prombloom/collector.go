package prombloom

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
)

// A Source is a filter that is watched. Filters in Redis are Sources as they are;
// [Local] makes one of a filter in memory.
//
// It may also be a [Counter].
type Source interface {
	Stats(ctx context.Context) (bloom.Stats, error)
}

// A Counter tells what it has done, by names: a [guard.Guard] is one, and so are the filters in
// Redis. Counts that this package does not know are left out.
type Counter interface {
	EachCount(yield func(name string, value float64))
}

// Local returns a Source of a filter in memory: a [bloom.BloomFilter], a
// [guard.Guard], a [guard.List], or whatever else has Stats. A file of package persist that
// is closed answers with an error from then on.
//
// It panics if f is nil.
func Local(f interface{ Stats() bloom.Stats }) Source {
	if f == nil {
		panic("prombloom: a nil filter")
	}
	if g, ok := f.(Counter); ok {
		return localCounter{local{f}, g}
	}
	return local{f}
}

type local struct {
	f interface{ Stats() bloom.Stats }
}

func (l local) Stats(context.Context) (stats bloom.Stats, err error) {
	defer func() { // collect has goroutines, in which a panic ends the program
		if why := recover(); why != nil {
			closed, ok := why.(error)
			if !ok || !errors.Is(closed, os.ErrClosed) {
				panic(why)
			}
			err = closed
		}
	}()
	return l.f.Stats(), nil
}

type localCounter struct {
	local
	Counter
}

// A Collector is a [prometheus.Collector] of any number of filters. Make one with [New].
// All methods are safe for concurrent use.
type Collector struct {
	interval time.Duration

	mu      sync.Mutex
	watched map[string]*watched
}

type watched struct {
	source Source

	turn  chan bool // to ask the source: others wait for the answer
	asked time.Time // when it was last asked
	stats bloom.Stats
	err   error
}

// timeout is how long a filter may take to answer: less than Prometheus's own 10 s.
const timeout = 5 * time.Second

// New returns a Collector that asks each filter for its Stats, which is a pass over all
// bits, at most once in an interval, however often it is scraped.
func New(interval time.Duration) *Collector {
	return &Collector{interval: interval, watched: map[string]*watched{}}
}

// Add watches a filter under a name, in place of the one that had it. Bytes of the name that are
// not UTF-8, which a label must be, are U+FFFD, and names that are then equal are one name.
//
// It panics if source is nil.
func (c *Collector) Add(name string, source Source) {
	if source == nil {
		panic("prombloom: a nil Source")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched[label(name)] = &watched{source: source, turn: make(chan bool, 1)}
}

// Remove watches the filter of that name no longer.
func (c *Collector) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, label(name))
}

func label(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// Describe describes all metrics.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range statsMetrics {
		descs <- m.desc
	}
	for _, m := range countMetrics {
		descs <- m.desc
	}
	descs <- upDesc
	descs <- lookupsDesc
}

// Collect asks all filters at the same time.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c.mu.Lock()
	watched := maps.Clone(c.watched)
	c.mu.Unlock()
	var wg sync.WaitGroup
	for name, w := range watched {
		wg.Go(func() { w.collect(ctx, name, c.interval, metrics) })
	}
	wg.Wait()
}

func (w *watched) collect(ctx context.Context, name string, interval time.Duration, metrics chan<- prometheus.Metric) {
	stats, err := w.ask(ctx, interval)
	metrics <- prometheus.MustNewConstMetric(upDesc, prometheus.GaugeValue, number(err == nil), name)
	if err == nil && stats.M > 0 { // a guard that is not ready has none
		for _, m := range statsMetrics {
			metrics <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value(stats), name)
		}
	}
	source, ok := w.source.(Counter)
	if !ok {
		return
	}
	source.EachCount(func(count string, value float64) {
		if m, ok := countMetrics[count]; ok {
			metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, value, name)
		} else if result, ok := lookupResults[count]; ok {
			metrics <- prometheus.MustNewConstMetric(lookupsDesc, prometheus.CounterValue, value, name, result)
		}
	})
}

// ask asks the source, if the last answer is as old as the interval.
func (w *watched) ask(ctx context.Context, interval time.Duration) (bloom.Stats, error) {
	select {
	case w.turn <- true:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return bloom.Stats{}, ctx.Err()
	}
	if now := time.Now(); w.asked.IsZero() || now.Sub(w.asked) >= interval {
		w.stats, w.err = w.source.Stats(ctx)
		w.asked = now
	}
	return w.stats, w.err
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func keys(n uint64) float64 {
	if n == math.MaxUint64 {
		return math.Inf(1) // every bit is set
	}
	return float64(n)
}
