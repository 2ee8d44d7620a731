// Rate measures false-positive rates: of this library's filters as New makes them, over a
// grid of n, p, strategy and kind of keys, against what was asked for and what the library
// predicts, and of other libraries' for contrast.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed3447c163/bloom/compare/internal/program"
)

func main() {
	if err := measure(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "rate:", err)
		os.Exit(1)
	}
}

func measure(args []string, out io.Writer) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	cells := o.grid()
	if len(cells) == 0 {
		return fmt.Errorf("no strategy's or filter's name matches %q at these n and p", o.only)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	r := report{run(cells, o.budget), program.Taken("go run ./compare/rate", args), o.budget}
	table := filepath.Join(o.out, "rate.md")
	fmt.Fprintf(out, "%s%s\n", r.summary(), table)
	return os.WriteFile(table, []byte(r.markdown()), 0o644)
}

// options are what the command line says.
type options struct {
	sizes  []uint64
	rates  []float64
	only   *regexp.Regexp
	budget time.Duration
	out    string
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("rate", flag.ContinueOnError)
	flags.SetOutput(out)
	n := flags.String("n", "", "numbers of keys, separated by commas (default 1 to 1e8)")
	p := flags.String("p", "", "false-positive rates, separated by commas (default 0.5 to 1e-9)")
	only := flags.String("only", "", "measure only the strategies and filters whose names match this regular expression")
	flags.DurationVar(&o.budget, "budget", 0, "time for the whole run (default 20m); cells that it does not suffice for are marked")
	flags.StringVar(&o.out, "out", filepath.Join("compare", "results"), "folder for rate.md")
	quick := flags.Bool("quick", false, "only see that everything works: a small grid, less than a minute")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	sizes, rates, budget := "1,3,10,100,1e3,1e4,1e5,1e6,1e7,1e8", "0.5,0.1,0.01,1e-3,1e-4,1e-6,1e-9", 20*time.Minute
	if *quick {
		sizes, rates, budget = "1,10,1e3,1e5", "0.1,0.01,1e-4", 40*time.Second
	}
	var errs [3]error
	o.only, errs[0] = regexp.Compile(*only)
	o.sizes, errs[1] = program.Sizes(cmp.Or(*n, sizes))
	o.rates, errs[2] = program.Rates(cmp.Or(*p, rates), 1e-12, 0.99)
	switch o.budget = cmp.Or(o.budget, budget); {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.budget < 0:
		return o, fmt.Errorf("-budget %v is not positive", o.budget)
	}
	return o, errors.Join(errs[:]...)
}

// fullCrossN and fullCrossP bound the cells that are measured with every kind of key.
// Beyond, where a cell takes seconds or minutes, the kinds take turns.
const (
	fullCrossN = 1_000_000
	fullCrossP = 1e-5
)

// contrastRates are those that the others are measured at: enough to see how they stand.
var contrastRates = []float64{0.01, 1e-4, 1e-6}

// grid returns the cells of a run.
func (o options) grid() (cells []cell) {
	for si, s := range subjects() {
		for ni, n := range o.sizes {
			for pi, p := range o.rates {
				if !o.only.MatchString(s.name) || n > s.maxN || p < s.minP || !s.ours && !slices.Contains(contrastRates, p) {
					continue
				}
				for ki, k := range kinds {
					if s.ours && s.everyKind && n <= fullCrossN && p >= fullCrossP || s.ours && ki == (si+ni+pi)%len(kinds) || !s.ours && ki == urls {
						cells = append(cells, cell{s, k, n, p})
					}
				}
			}
		}
	}
	return cells
}

// run measures the cells, one on each core, the cheap ones first. Each may take what is left
// of the budget divided by the cells that are left: what the cheap ones leave goes to those
// that cost more. Results are in the order of the cells.
func run(cells []cell, budget time.Duration) []result {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cells[a].cost(), cells[b].cost()) })
	workers, deadline := min(runtime.GOMAXPROCS(0), len(cells)), time.Now().Add(budget)
	results, next, bar := make([]result, len(cells)), 0, new(program.Progress)
	var mu sync.Mutex
	take := func() (i int, share time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(order) {
			return -1, 0
		}
		i, next = order[next], next+1
		left := time.Until(deadline)
		bar.Say("cell %d of %d, %s of the budget left | %s", next, len(order), left.Round(time.Second), cells[i])
		return i, left * time.Duration(workers) / time.Duration(len(order)-next+workers)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i, share := take(); i >= 0; i, share = take() {
				results[i] = cells[i].measure(time.Now().Add(share), share > 0)
			}
		})
	}
	wg.Wait()
	bar.Finish()
	return results
}

// cost is a guess of the nanoseconds that a cell takes.
func (c cell) cost() float64 {
	bits := math.Ceil(-math.Log2(c.p))
	each := 30 + bits
	if c.n >= fullCrossN {
		each += 10 * bits // cache misses
	}
	return float64(filterCount(c.n))*float64(c.n)*each + lookups(c.p)*20
}
