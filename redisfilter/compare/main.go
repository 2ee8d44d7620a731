// Compare measures redisfilter beside the other ways to keep a Bloom filter in Redis,
// on a redis-server of its own, in one run: adds of fresh keys, and lookups of keys that
// are not there, at different batch sizes and rates, and by many goroutines.
//
// The designs take turns in short rounds; what is printed is the best round of each,
// the one that other programs on the machine have disturbed the least. Server time is what INFO commandstats says the commands took, without
// reading them and writing the replies, and beside it the CPU time of the whole
// server process, which has all of that.
//
// Usage:
//
//	compare [-quick] [-windows] [-rounds n] [-time d]
//
// With -windows, it measures the filters that forget, and what they answer in races.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/zeromicro/go-zero/core/logx"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
)

func main() {
	quick := flag.Bool("quick", false, "a few milliseconds of everything, to see that it runs")
	rounds := flag.Int("rounds", 25, "let the designs take turns this many `times`")
	windows := flag.Bool("windows", false, "compare the filters that forget")
	each := flag.Duration("time", 60*time.Millisecond, "`duration` of one turn")
	flag.Parse()
	fill := 120_000 // so that each block of a window has some
	if *quick {
		*rounds, *each, fill = 1, 5*time.Millisecond, 3000
	}
	logx.Disable()
	measure := run
	if *windows {
		measure = func(ctx context.Context, rounds int, each time.Duration) error {
			return runWindows(ctx, fill, rounds, each)
		}
	}
	if err := measure(context.Background(), *rounds, *each); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, each time.Duration) error {
	s, table, err := start(ctx, rounds, each)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, p := range []float64{0.01, 0.0001} {
		for _, adds := range []bool{true, false} {
			for _, batch := range []int{1, 100, 500} {
				if err := section(ctx, table, s, designs, 300, p, adds, batch, 1, rounds, each); err != nil {
					return err
				}
			}
		}
	}
	for _, adds := range []bool{true, false} {
		if err := section(ctx, table, s, designs, 300, 0.01, adds, 1, 64, rounds, each); err != nil {
			return err
		}
	}
	return duplicates(ctx, s, each*time.Duration(rounds))
}

// runWindows compares those that forget, with so many keys in each.
func runWindows(ctx context.Context, fill, rounds int, each time.Duration) error {
	s, table, err := start(ctx, rounds, each)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, adds := range []bool{true, false} {
		for _, batch := range []int{1, 100} {
			if err := section(ctx, table, s, windowDesigns, fill, 0.01, adds, batch, 1, rounds, each); err != nil {
				return err
			}
		}
	}
	return races(ctx, os.Stdout, s)
}

// start starts a server, and says what is measured.
func start(ctx context.Context, rounds int, each time.Duration) (*server, *tabwriter.Writer, error) {
	s, err := startServer(ctx)
	if err != nil {
		return nil, nil, err
	}
	version, err := s.version(ctx)
	if err != nil {
		s.stop()
		return nil, nil, err
	}
	fmt.Printf("Redis %s over loopback, one connection for each goroutine, the best of %d rounds of %v\n\n", version, rounds, each)
	return s, tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight), nil
}

// section measures designs that have some keys at one operation, batch size and rate.
func section(ctx context.Context, table *tabwriter.Writer, s *server, designs []design, fill int, p float64, adds bool, batch, goroutines, rounds int, each time.Duration) error {
	const n = 1_000_000
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		return err
	}
	scheme, err := bloom.NewScheme(n, p)
	if err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: s.addr, PoolSize: goroutines})
	e := &env{ctx: ctx, client: client, addr: s.addr, n: n, p: p, scheme: scheme}
	var runs []*turns
	for _, d := range designs {
		if d.single && batch > 1 {
			continue
		}
		f, err := d.open(e)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		t := &turns{design: d, filter: f}
		// Grown to full length before, as ours is, and with keys in each of its parts.
		for i := 0; i < fill; i += 300 {
			if err := f.add(ctx, keysFrom(1<<40+i, 300)); err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
		}
		runs = append(runs, t)
	}
	for range rounds {
		for _, t := range runs {
			if err := t.turn(ctx, s, adds, batch, goroutines, each); err != nil {
				return fmt.Errorf("%s: %w", t.design.name, err)
			}
		}
	}
	operation := "lookups"
	if adds {
		operation = "adds"
	}
	fmt.Fprintf(table, "%s, p = %v, batch %d, goroutines %d\titems/s\tours: faster\tcommands, µs/item\tours: less\tserver CPU, µs/item\tours: less\t\n", operation, p, batch, goroutines)
	first := runs[0].best()
	for _, t := range runs {
		name := t.design.name
		if t.design.ownK > 0 {
			name += fmt.Sprintf(" (k = %d)", t.design.ownK)
		}
		b := t.best()
		fmt.Fprintf(table, "%s\t%.0f\t%.2fx\t%.2f\t%.2fx\t%.2f\t%.2fx\t\n", name, b.perSecond, first.perSecond/b.perSecond,
			b.command, b.command/first.command, b.cpu, b.cpu/first.cpu)
	}
	fmt.Fprintln(table, "\t\t\t\t\t\t\t")
	return table.Flush()
}

// turns are the measurements of one design.
type turns struct {
	design   design
	filter   filter
	next     int // keys used so far
	measures []measure
}

type measure struct{ perSecond, command, cpu float64 }

// turnKeys is how many keys are made before a turn, so that making them is not measured. A turn
// that has used them up is over.
const turnKeys = 64_000

func (t *turns) turn(ctx context.Context, s *server, adds bool, batch, goroutines int, each time.Duration) error {
	keys := keysFrom(t.next, turnKeys)
	t.next += turnKeys
	usec, cpu, err := s.cost(ctx, t.design.commands)
	if err != nil {
		return err
	}
	var items atomic.Int64
	var wrong atomic.Pointer[error]
	var all sync.WaitGroup
	start := time.Now()
	for g := range goroutines {
		all.Go(func() {
			mine := keys[g*turnKeys/goroutines : (g+1)*turnKeys/goroutines]
			done := 0
			for ; done+batch <= len(mine) && time.Since(start) < each; done += batch {
				call := t.filter.ask
				if adds {
					call = t.filter.add
				}
				if err := call(ctx, mine[done:done+batch]); err != nil {
					wrong.Store(&err)
					return
				}
			}
			items.Add(int64(done))
		})
	}
	all.Wait()
	took := time.Since(start)
	if err := wrong.Load(); err != nil {
		return *err
	}
	usecAfter, cpuAfter, err := s.cost(ctx, t.design.commands)
	if err != nil {
		return err
	}
	n := float64(items.Load())
	t.measures = append(t.measures, measure{n / took.Seconds(), (usecAfter - usec) / n, (cpuAfter - cpu) / n})
	return nil
}

// best returns the most items a second and the least times of all turns.
func (t *turns) best() measure {
	b := t.measures[0]
	for _, m := range t.measures {
		b = measure{max(b.perSecond, m.perSecond), min(b.command, m.command), min(b.cpu, m.cpu)}
	}
	return b
}

// keysFrom returns different keys, as long as short URLs.
func keysFrom(first, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%012d", first+i)
	}
	return keys
}

// duplicates adds a stream of which nine in ten keys were there before, as a
// crawler's links are, with the front filter and without.
func duplicates(ctx context.Context, s *server, each time.Duration) error {
	fmt.Println("adds one by one, 90 % duplicates:")
	var without float64
	for _, front := range []uint64{0, 64 << 20} {
		f, err := redisfilter.Open(ctx, s.client, fmt.Sprint("front", front), 10_000_000, 0.01, redisfilter.WithFront(front))
		if err != nil {
			return err
		}
		before := f.Counts().RoundTrips
		items := 0
		start := time.Now()
		for ; time.Since(start) < each; items++ {
			// Every tenth is new; the others were seen at any time before.
			i := items / 10
			if items%10 != 0 {
				i = items * 7919 % (items/10 + 1)
			}
			if _, err := f.Add(ctx, keysFrom(i, 1)[0]); err != nil {
				return err
			}
		}
		took := time.Since(start)
		after := f.Counts().RoundTrips
		perSecond := float64(items) / took.Seconds()
		if front == 0 {
			without = perSecond
		}
		fmt.Printf("  front of %2d MiB: %7.0f adds/s (%.1fx), %.3f round trips an add\n", front>>20, perSecond, perSecond/without, float64(after-before)/float64(items))
	}
	return nil
}
