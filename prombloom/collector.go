package prombloom

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
)

// A Source is a filter that a [Collector] watches. Filters in Redis are Sources. [Local] makes a Source of a filter in
// memory. Guards and filters in Redis also have a method Metrics() map[string]float64. If a Source has it, the numbers
// with names that this package knows become metrics, too. The method must not block.
type Source interface {
	Stats(ctx context.Context) (bloom.Stats, error)
}

type measured interface {
	Metrics() map[string]float64
}

// Local returns a Source of a filter in memory: a [bloom.BloomFilter], a guard.Guard, a persist.List, or any other
// value with Stats. For a closed file of package persist, bloom_up is 0.
//
// It panics if f is nil, a nil pointer, or a zero value with a Stats that panics, such as a zero BloomFilter.
func Local(f interface{ Stats() bloom.Stats }) Source {
	mustNotBeNil(f, "filter")
	if reflect.Indirect(reflect.ValueOf(f)).IsZero() {
		f.Stats() // panics here, and not at each scrape
	}
	return local{f}
}

func mustNotBeNil(x any, what string) {
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("prombloom: a nil " + what)
	}
}

type local struct {
	f interface{ Stats() bloom.Stats }
}

func (l local) Stats(context.Context) (bloom.Stats, error) { return l.f.Stats(), nil }

func (l local) Metrics() map[string]float64 {
	if c, ok := l.f.(measured); ok {
		return c.Metrics()
	}
	return nil
}

// try runs a function and returns its panic as an error. A panic in a goroutine of a Collector would end the program.
func try(call func()) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("prombloom: panic: %v", why)
		}
	}()
	call()
	return nil
}

// A Collector is a [prometheus.Collector] of any number of filters. Make one with [New]. The zero Collector is usable:
// its interval is 0, so it calls Stats of each filter at each scrape. All methods are safe for concurrent use.
type Collector struct {
	interval time.Duration

	mu      sync.Mutex
	watched map[string]*watched
}

type watched struct {
	source Source

	mu    sync.Mutex
	asked time.Time // time of the last call of Stats
	last  *answer   // result of that call; nil before the first call
}

// An answer is the result of Stats. It is valid when done is closed.
type answer struct {
	done  chan struct{}
	stats bloom.Stats
	err   error
}

// timeout is the longest time that a scrape waits for a filter. It is less than the timeout of Prometheus, 10 s by
// default.
const timeout = 5 * time.Second

// New returns a Collector. However often it is scraped, it calls Stats of each filter at most once per interval,
// because Stats takes a pass over all bits. A scrape waits at most 5 s. bloom_up is 0 if Stats has not returned by
// then, and after it has returned an error or panicked.
func New(interval time.Duration) *Collector {
	return &Collector{interval: interval}
}

// Add watches a filter under a name. It replaces another filter of that name. Labels must be UTF-8: other bytes of the
// name become U+FFFD.
//
// It panics if source is nil or a nil pointer.
func (c *Collector) Add(name string, source Source) {
	mustNotBeNil(source, "Source")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched == nil {
		c.watched = map[string]*watched{}
	}
	c.watched[label(name)] = &watched{source: source}
}

// Remove stops watching the filter of that name.
func (c *Collector) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, label(name))
}

func label(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// Describe describes all metrics.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range metrics {
		descs <- m.desc
	}
}

// Collect calls Stats of all filters at the same time.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c.mu.Lock()
	watched := maps.Clone(c.watched)
	c.mu.Unlock()
	var wg sync.WaitGroup
	for name, w := range watched {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.collect(ctx, name, c.interval, out)
		}()
	}
	wg.Wait()
}

func (w *watched) collect(ctx context.Context, name string, interval time.Duration, out chan<- prometheus.Metric) {
	values := map[string]float64{}
	if source, ok := w.source.(measured); ok {
		_ = try(func() { maps.Copy(values, source.Metrics()) })
	}
	stats, err := w.ask(ctx, interval)
	if err == nil && stats.M > 0 { // a guard that is not ready has no bits
		maps.Copy(values, valuesOf(stats))
	}
	values["up"] = 0
	if err == nil {
		values["up"] = 1
	}
	for key, value := range values {
		if m, ok := metrics[key]; ok {
			out <- m.of(name, value)
		}
	}
}

// ask returns the result of the source's last Stats. If the last call of Stats has returned, and began at least an
// interval ago, ask calls Stats again. ask waits for the result until ctx is done.
func (w *watched) ask(ctx context.Context, interval time.Duration) (bloom.Stats, error) {
	w.mu.Lock()
	a := w.last
	if a == nil || time.Since(w.asked) >= interval && a.isDone() {
		a = &answer{done: make(chan struct{})}
		w.asked, w.last = time.Now(), a
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			if why := try(func() { a.stats, a.err = w.source.Stats(ctx) }); why != nil {
				a.err = why
			}
			close(a.done)
		}()
	}
	w.mu.Unlock()
	select {
	case <-a.done:
		return a.stats, a.err
	case <-ctx.Done():
		return bloom.Stats{}, ctx.Err()
	}
}

func (a *answer) isDone() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}
