// Soak runs random operations from many goroutines on all kinds of filters, with
// snapshots, unions, files that are reopened and processes that are killed, and
// compares every answer with an exact model, for as long as it is told to:
//
//	go run ./soak -for 10m
//
// Where there is a redis-server, filters in Redis are among them. It prints a line a
// minute, and at the end what it has done. If anything was wrong it says what and exits
// with status 1; the seed in its first line repeats the operations, though not the
// timing.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	duration := flag.Duration("for", time.Minute, "how long")
	goroutines := flag.Int("goroutines", 8, "how many work on one filter")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random operations")
	child := flag.String("child", "", "for the program's own use: what a process to be killed does")
	flag.Parse()
	if *child != "" {
		beKilled(*child, flag.Args())
		return
	}
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &soak{goroutines: *goroutines, dir: dir, random: rand.New(rand.NewPCG(*seed, 1)), counts: map[string]int64{}}
	fmt.Printf("soak for %v with %d goroutines and -seed %d\n", *duration, *goroutines, *seed)
	if s.redis, err = newServer(dir); err != nil {
		fmt.Println("NOT SOAKED: redisfilter:", err)
		if os.Getenv("BLOOM_REQUIRE") != "" {
			os.Exit(1)
		}
	} else {
		kinds = append(kinds, redisKind)
	}
	s.run(*duration)
	if s.redis != nil {
		s.redis.kill()
	}
	os.RemoveAll(dir)
	if !s.verdict() {
		os.Exit(1)
	}
}

// A soak counts what is done, and keeps what went wrong.
type soak struct {
	goroutines int
	dir        string
	redis      *server    // nil if there is none
	random     *rand.Rand // of the main goroutine

	mu       sync.Mutex
	counts   map[string]int64
	faults   []string
	expected float64 // false positives that p allows
}

func (s *soak) run(duration time.Duration) {
	began := time.Now()
	minute := began.Add(time.Minute)
	for round := 0; time.Since(began) < duration && len(s.faults) == 0; round++ {
		kinds[round%len(kinds)].round(s)
		if round%len(kinds) == 0 {
			s.killAdders()
			s.killSavers()
			if s.redis != nil {
				s.killServer()
			}
		}
		s.count("rounds", 1)
		if time.Now().After(minute) {
			fmt.Printf("%4.0fm  %s\n", time.Since(began).Minutes(), s.line("rounds", "add", "contains", "snapshots", "unions", "kills", "faults"))
			minute = minute.Add(time.Minute)
		}
	}
	fmt.Printf("ended after %v\n", time.Since(began).Round(time.Second))
}

func (s *soak) count(what string, n int) {
	s.mu.Lock()
	s.counts[what] += int64(n)
	s.mu.Unlock()
}

func (s *soak) fault(format string, args ...any) {
	s.mu.Lock()
	if s.faults = append(s.faults, fmt.Sprintf(format, args...)); len(s.faults) <= 10 {
		fmt.Println("FAULT:", s.faults[len(s.faults)-1])
	}
	s.counts["faults"]++
	s.mu.Unlock()
}

func (s *soak) line(names ...string) string {
	out := []string{}
	for _, name := range names {
		out = append(out, fmt.Sprintf("%s %d", name, s.counts[name]))
	}
	return strings.Join(out, ", ")
}

// verdict prints everything that was counted, and says whether all was well: no
// fault, and no more false positives than p allows with four standard deviations.
func (s *soak) verdict() bool {
	for _, name := range slices.SortedFunc(maps.Keys(s.counts), cmp.Compare[string]) {
		fmt.Printf("%12d  %s\n", s.counts[name], name)
	}
	limit := s.expected + 4*math.Sqrt(s.expected) + 4
	positives := float64(s.counts["false positives"])
	fmt.Printf("%12.0f  false positives that the filters' p allow\n", s.expected)
	if positives > limit {
		s.fault("%.0f false positives, want at most %.0f", positives, limit)
	}
	if len(s.faults) > 0 {
		fmt.Printf("NOT WELL: %d faults\n", len(s.faults))
		return false
	}
	fmt.Println("all well: no miss, no second winner, no damage, no more false positives than promised")
	return true
}
