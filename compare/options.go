package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// options are what the command line says.
type options struct {
	sizes  []uint64
	rates  []float64
	rounds int // 0: as many as the size allows
	peers  *regexp.Regexp
	out    string
	quick  bool
	render bool
}

const largeN = 100_000_000

func parse(args []string, out io.Writer) (options, error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(out)
	n := flags.String("n", "10000,1000000", "numbers of keys, separated by commas")
	p := flags.String("p", "0.01,0.0001", "false-positive rates, separated by commas")
	rounds := flags.Int("rounds", 0, "rounds over all filters (default 15, and 3 from ten million keys on)")
	large := flags.Bool("large", false, "measure n = 100000000, too: more than an hour, up to 6 GiB")
	dir := flags.String("out", defaultOut(), "folder for the results")
	peers := flags.String("peers", "", "measure only those whose names match this regular expression")
	quick := flags.Bool("quick", false, "only see that everything works: n = 10000, 3 rounds, less than a minute")
	render := flags.Bool("render", false, "measure nothing, make tables and plots from the results.json that is there")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o := options{rounds: *rounds, out: *dir, quick: *quick, render: *render}
	var err error
	if o.peers, err = regexp.Compile(*peers); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *rounds < 0 {
		return o, fmt.Errorf("-rounds %d is negative", *rounds)
	}
	if o.sizes, err = sizes(*n); err != nil {
		return o, err
	}
	if o.rates, err = rates(*p); err != nil {
		return o, err
	}
	if *large {
		o.sizes = append(o.sizes, largeN)
	}
	if *quick {
		o.sizes = []uint64{10_000}
		if o.rounds == 0 {
			o.rounds = 3
		}
	}
	return o, nil
}

// sizes reads numbers like 10000 and 1e6.
func sizes(list string) ([]uint64, error) {
	var ns []uint64
	for _, word := range strings.Split(list, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x >= 1 && x <= 1e10) || x != float64(uint64(x)) {
			return nil, fmt.Errorf("-n: %q is not a number of keys from 1 to 1e10", word)
		}
		ns = append(ns, uint64(x))
	}
	return ns, nil
}

func rates(list string) ([]float64, error) {
	var ps []float64
	for _, word := range strings.Split(list, ",") {
		p, err := strconv.ParseFloat(word, 64)
		if err != nil || !(p >= 1e-6 && p <= 0.5) {
			return nil, fmt.Errorf("-p: %q is not a rate from 1e-6, below which no run is long enough to measure it, to 0.5", word)
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// roundsFor is how many rounds a size gets. A large one takes minutes a round and
// averages over more operations in it.
func (o options) roundsFor(n uint64) int {
	switch {
	case o.rounds > 0:
		return o.rounds
	case n >= 10_000_000:
		return 3
	}
	return 15
}

// defaultOut is the folder results beside this program, whether it is run from
// there or from the root of the repository.
func defaultOut() string {
	if _, err := os.Stat(filepath.Join("compare", "go.mod")); err == nil {
		return filepath.Join("compare", "results")
	}
	return "results"
}
