// Compare measures this library's Bloom filter against the others there are for Go, and
// against Guava's where a JVM is installed: time per operation, memory and the
// false-positive rate, side by side in one run. README.md says what it measures and how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/compare/internal/program"
)

var nan = math.NaN()

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	peers := slices.Concat(filters.Floors(), filters.Ours(), filters.Others())
	jvm, left := (*guava)(nil), ""
	if o.peers.MatchString("Guava (JVM)") {
		if jvm, err = startGuava(); err != nil {
			left = fmt.Sprintf(" Left out: Guava: %v.", err)
		} else {
			defer jvm.stop()
			peers = append(peers, jvm.peer)
		}
	}
	peers = slices.DeleteFunc(peers, func(p *filters.Peer) bool { return !o.peers.MatchString(p.Name) })
	if len(peers) == 0 {
		return fmt.Errorf("no filter's name matches %q", o.peers)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	bar, free := new(program.Progress), []float64{}
	var text strings.Builder
	path := filepath.Join(o.out, "results.md")
	save := func() error { // after each table: a run may take hours, and someone may end it
		head := fmt.Sprintf("# Bloom filters compared\n\n%s.%s\n", program.Taken("go run ./compare", args), left)
		if len(free) > 0 {
			head += fmt.Sprintf("\n%d goroutines that only calculate did %.2f times the work of one (median over the rounds): where that is far from %[1]d, the machine had much else to do.\n",
				runtime.GOMAXPROCS(0), median(free))
		}
		return os.WriteFile(path, []byte(head+legend+text.String()), 0o644)
	}
	for _, p := range o.rates {
		for _, n := range o.sizes {
			t := &table{n: n, p: p}
			if err := t.measure(o, peers, jvm, bar, &free); err != nil {
				return err
			}
			t.sort()
			t.write(&text)
			err := t.draw(filepath.Join(o.out, fmt.Sprintf("ns-n%d-p%g.svg", n, p)))
			if err := errors.Join(err, save()); err != nil {
				return err
			}
		}
	}
	if slices.Contains(o.tables, "small") {
		if err := small(&text, peers, o.scaled(20_000), o.scaled(9), bar); err != nil {
			return err
		}
	}
	if slices.Contains(o.tables, "whole") {
		wholeTable(&text, uint64(o.scaled(10_000_000)), o.scaled(15), bar)
	}
	writePeers(&text, peers, program.Versions())
	bar.Finish()
	fmt.Println(path)
	return save()
}

const legend = `
Keys are 40 bytes long and look like URLs. Times are ns per operation, medians over the
rounds, the key's hash included but for hashed keys; in brackets on all cores, the time on
the wall over the operations of all goroutines. *Rate* is the measured false-positive rate,
bold where p is not kept. A static filter's add is what it costs to build, a key.
`

// measure visits all peers in rounds, in an order that changes, so that whatever slows the
// machine for a while slows them all.
func (t *table) measure(o options, peers []*filters.Peer, jvm *guava, bar *program.Progress, free *[]float64) error {
	t.rows = make([]*series, len(peers))
	for i, p := range peers {
		t.rows[i] = &series{peer: p}
	}
	order := rand.New(rand.NewPCG(t.n, uint64(1/t.p)))
	for round := range o.roundsFor(t.n) {
		*free = append(*free, freeCores(runtime.GOMAXPROCS(0)))
		for _, i := range order.Perm(len(peers)) {
			bar.Say("n = %d, p = %g, round %d of %d: %s", t.n, t.p, round+1, o.roundsFor(t.n), peers[i].Name)
			found, err := outcome{}, error(nil)
			if j := o.job(t.n, t.p, round); jvm != nil && peers[i] == jvm.peer {
				found, err = jvm.visit(j)
			} else {
				found, err = visit(peers[i], j)
			}
			if err != nil {
				return err
			}
			t.rows[i].note(found)
		}
	}
	return nil
}

// options are what the command line says.
type options struct {
	sizes  []uint64
	rates  []float64
	rounds int // 0: as many as the size allows
	peers  *regexp.Regexp
	tables []string
	out    string
	quick  bool
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(out)
	n := flags.String("n", "10000,1000000,20000000", "numbers of keys, separated by commas")
	p := flags.String("p", "0.01,0.0001", "false-positive rates, separated by commas")
	tables := flags.String("tables", "keys,small,whole", "what to measure: operations on keys, many small filters, whole filters")
	peers := flags.String("peers", "", "measure only the filters whose names match this regular expression")
	flags.IntVar(&o.rounds, "rounds", 0, "rounds over all filters (default 15, and 3 from ten million keys on)")
	flags.StringVar(&o.out, "out", filepath.Join("compare", "results"), "folder for results.md and the plots")
	flags.BoolVar(&o.quick, "quick", false, "only see that everything works: n = 10000, less than a minute")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.quick {
		*n = "10000"
	}
	o.tables = strings.Split(*tables, ",")
	for _, word := range o.tables {
		if !slices.Contains([]string{"keys", "small", "whole"}, word) {
			return o, fmt.Errorf("-tables: %q is none of keys, small, whole", word)
		}
	}
	var errs [3]error
	o.peers, errs[0] = regexp.Compile(*peers)
	o.sizes, errs[1] = program.Sizes(*n)
	o.rates, errs[2] = program.Rates(*p, 1e-6, 0.5) // below, no run is long enough to measure it
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.rounds < 0:
		return o, fmt.Errorf("-rounds %d is negative", o.rounds)
	case !slices.Contains(o.tables, "keys"):
		o.rates = nil
	}
	return o, errors.Join(errs[:]...)
}

// roundsFor is how many rounds a size gets. A large one takes minutes a round and averages
// over more operations in it.
func (o options) roundsFor(n uint64) int {
	switch {
	case o.rounds > 0:
		return o.rounds
	case o.quick || n >= 10_000_000:
		return 3
	}
	return 15
}

// job returns a visit as long as it must be and no longer: all rounds together meet some
// hundred false positives.
func (o options) job(n uint64, p float64, round int) job {
	j := job{n: n, p: p, round: round, workers: runtime.GOMAXPROCS(0), fills: int(max(200_000/n, 1)), probes: 1 << 18, misses: max(1<<18, uint64(50/p))}
	if o.quick {
		j.fills, j.probes, j.misses = max(j.fills/10, 1), 1<<15, 1<<17
	}
	return j
}

// scaled is a number of filters, keys or rounds, or less of them.
func (o options) scaled(x int) int {
	if o.quick {
		return max(x/10, 1)
	}
	return x
}
