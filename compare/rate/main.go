// Rate measures false-positive rates: of this library's filters as New makes them,
// over a grid of n, p, strategy and kind of keys, against what was asked for and
// what the library predicts, and of a few others for contrast.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/seed3447c163/bloom/compare/internal/environment"
)

func main() {
	if err := program(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "rate:", err)
		os.Exit(1)
	}
}

func program(args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	cells := o.grid()
	if len(cells) == 0 {
		return fmt.Errorf("no strategy's or filter's name matches %q at these n and p", o.subjects)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	start := time.Now()
	bar := &progress{out: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	results := run(cells, o.budget, bar)
	r := &report{
		results:  results,
		machine:  environment.This(strings.Join(append([]string{"go run ./compare/rate"}, args...), " ")),
		versions: environment.Versions(),
		budget:   o.budget,
		took:     time.Since(start),
	}
	table, plot := filepath.Join(o.out, "rate.md"), filepath.Join(o.out, "rate-grid.svg")
	if err := os.WriteFile(table, []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	if err := r.draw(plot); err != nil {
		return err
	}
	fmt.Print(r.summary())
	fmt.Println(table)
	fmt.Println(plot)
	return nil
}

// options are what the command line says.
type options struct {
	sizes    []uint64
	rates    []float64
	subjects *regexp.Regexp
	budget   time.Duration
	out      string
}

func parse(args []string, out io.Writer) (options, error) {
	flags := flag.NewFlagSet("rate", flag.ContinueOnError)
	flags.SetOutput(out)
	n := flags.String("n", "1,3,10,100,1e3,1e4,1e5,1e6,1e7,1e8", "numbers of keys, separated by commas")
	p := flags.String("p", "0.5,0.1,0.01,1e-3,1e-4,1e-6,1e-9", "false-positive rates, separated by commas")
	large := flags.Bool("large", false, "measure n = 1e9, too: up to 14 GiB and some hours, so give it a budget")
	budget := flags.Duration("budget", 20*time.Minute, "time for the whole run; cells that it does not suffice for are marked")
	subjects := flags.String("only", "", "measure only the strategies and filters whose names match this regular expression")
	dir := flags.String("out", defaultOut(), "folder for rate.md and rate-grid.svg")
	quick := flags.Bool("quick", false, "only see that everything works: a small grid, less than a minute")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *quick {
		given := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, set := range map[string]func(){
			"n":      func() { *n = "1,10,1e3,1e5" },
			"p":      func() { *p = "0.1,0.01,1e-4" },
			"budget": func() { *budget = 40 * time.Second },
		} {
			if !given[name] {
				set()
			}
		}
	}
	if *budget <= 0 {
		return options{}, fmt.Errorf("-budget %v is not positive", *budget)
	}
	o := options{budget: *budget, out: *dir}
	var err error
	if o.subjects, err = regexp.Compile(*subjects); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if *large {
		*n += ",1e9"
	}
	for _, word := range strings.Split(*n, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x >= 1 && x <= 1e10) || x != float64(uint64(x)) {
			return o, fmt.Errorf("-n: %q is not a number of keys from 1 to 1e10", word)
		}
		o.sizes = append(o.sizes, uint64(x))
	}
	for _, word := range strings.Split(*p, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x > 0 && x < 1) {
			return o, fmt.Errorf("-p: %q is not a rate between 0 and 1", word)
		}
		o.rates = append(o.rates, x)
	}
	slices.Sort(o.sizes)
	o.sizes = slices.Compact(o.sizes)
	return o, nil
}

// defaultOut is the folder results of compare, from the root of the repository or
// from either folder.
func defaultOut() string {
	for _, dir := range []string{"compare", ".", ".."} {
		if _, err := os.Stat(filepath.Join(dir, "rate", "main.go")); err == nil {
			return filepath.Join(dir, "results")
		}
	}
	return "results"
}
