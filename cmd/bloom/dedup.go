package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints the first line of each distinct key, in order, before it waits for more
input. A new key is taken for an old one, and its line dropped, at a rate of at
most -p (1e-6), for at most -n distinct keys (10M). Memory is constant, and at
one key more dedup stops with status 3. With --grow memory follows the distinct
keys, with --window those of this time; -n is a guess then. --max-memory limits
it: at a new key without room dedup stops with status 3.

--filter keeps the keys in a file from one run to the next. The first run makes
it of the flags; later runs may leave these out. It is written at the end, about
every minute before, when the filter is full, and at Ctrl-C, SIGTERM or SIGHUP,
with keys of printed lines only. A kill loses the keys since the last save;
another error leaves the file as last saved. A full filter stays full. Go on in
a new one, without the old keys:

  bloom check -v known.bloom today.txt | bloom dedup --grow --filter new.bloom`

// A dedup has the flags of the command bloom dedup.
type dedup struct {
	*command
	window time.Duration
	grow   bool
}

func newDedup(e *env) *cobra.Command {
	o := &dedup{command: newCommand(e, &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct line once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter known.bloom -n 1M today.txt > new-today.txt
  bloom dedup --filter month.bloom --window 30d -n 1M today.txt`,
	}, "number rate strategy hash secret-file null field delimiter quiet")}
	o.n, o.p = 10_000_000, 1e-6
	f := o.cmd.Flags()
	flag(f, &o.filter, notEmpty, "filter", "", "`FILE` that keeps the keys from one run to the next")
	flag(f, &o.window, duration, "window", "", "forget keys after this `TIME`, such as 30d or 12h")
	f.BoolVar(&o.grow, "grow", false, "take more memory for more than -n keys")
	flag(f, &o.maxMemory, memory, "max-memory", "", "`SIZE` of the filter at most, such as 1GiB; default all")
	o.exclude("window", "grow")
	return o.runs(o.run)
}

func (o *dedup) run(files []string) error {
	begin := o.create
	if o.filter != "" {
		release, err := lock(o.env, o.filter, o.quiet)
		if err != nil {
			return err
		}
		defer release()
		if _, missing := os.Stat(o.filter); !errors.Is(missing, fs.ErrNotExist) {
			begin = o.reopen
		}
	}
	f, kept, err := begin()
	if err != nil {
		return err
	}
	if o.filter == "" {
		return o.printNew(f, files, nil)
	}
	if err := trySave(o.filter); err != nil {
		return err
	}
	k := &keeper{env: o.env, path: o.filter, filter: f, format: kept}
	return k.end(o.printNew(f, files, k))
}

// create makes the empty filter that the flags describe. kept is the format of a file that keeps it.
func (o *dedup) create() (f filterfile.Filter, kept *filterfile.Format, err error) {
	switch {
	case o.window > 0:
		kept = &filterfile.Rotating
		f, err = makeFilter(o.command, func(opts ...bloom.Option) (*rotating.Filter, error) {
			return rotating.New(o.n, o.p, o.window, rotating.WithBloom(opts...))
		})
	case o.grow:
		kept = &filterfile.Scalable
		f, err = makeFilter(o.command, func(opts ...bloom.Option) (*scalable.Filter, error) { return scalable.New(o.n, o.p, opts...) })
	default:
		kept = &filterfile.Native
		f, err = o.plain()
	}
	if o.maxMemory > 0 && errors.Is(err, bloom.ErrTooLarge) {
		err = fmt.Errorf("%w; want a smaller -n or a larger --max-memory", err)
	}
	return f, kept, err
}

// reopen reads the filter in the file o.filter, and returns it with its format. It returns an error if the filter was
// not made with the given flags.
func (o *dedup) reopen() (filterfile.Filter, *filterfile.Format, error) {
	f, kept, err := o.openToWrite(o.filter)
	if err != nil {
		return nil, nil, err
	}
	s, made := f.Stats(), time.Duration(0)
	switch f := f.(type) {
	case *scalable.Filter:
		s.N = f.Layers()[0].N
	case *rotating.Filter:
		made, s.N = f.Window(), 0 // -n is only an estimate, so it need not be the same
	}
	switch {
	case o.window > 0 && made == 0:
		err = fmt.Errorf("a %s filter has no window, want a new file for --window", kept.Name)
	case o.window > 0 && o.window != made:
		err = fmt.Errorf("made with a window of %v, want the same --window or none", made)
	case o.grow && (!kept.Grows() || made > 0):
		err = fmt.Errorf("a %s filter does not grow, want a new file for --grow", kept.Name)
	default:
		if plain, ok := f.(*bloom.BloomFilter); ok && s.N == 0 {
			s.N, s.P, err = o.n, o.p, o.plans(plain)
		}
		err = cmp.Or(err, o.agrees(s))
	}
	return f, kept, lines.Named(o.filter, err)
}

// plans checks -n and -p for a filter of another program, whose file has no n and p. It returns an error unless -n is
// given and the rate of f with n keys is at most p.
func (o *dedup) plans(f *bloom.BloomFilter) error {
	p := f.Params()
	switch rate := f.Scheme().Strategy().FalsePositiveRate(p.M, p.K, o.n); {
	case !o.given("number"):
		return errors.New("the file does not say how many keys its filter is for, want -n")
	case rate > 1.1*o.p: // 10 % more, because the formulas of other programs are not exact
		return fmt.Errorf("with %s keys the filter has a rate of %.2g, want at most the -p of %v: a smaller -n or a larger -p", grouped(o.n), rate, o.p)
	}
	return nil
}

// printNew prints the lines whose keys are new to f, and adds these keys to f. k, unless it is nil, saves f while lines
// arrive.
func (o *dedup) printNew(f filterfile.Filter, files []string, k *keeper) error {
	before := f.Stats().EstimatedCount
	plain, fixed := f.(*bloom.BloomFilter)
	room, planned, advice := uint64(math.MaxUint64), uint64(0), "want a larger -n or --grow"
	if o.filter != "" {
		advice = "want a new file: see bloom help dedup"
	}
	if fixed {
		planned = cmp.Or(plain.Params().N, o.n)
		room = planned - min(planned, before)
	}
	read, printed := 0, 0
	in := o.input(files)
	in.Keyless = true // lines without a key are printed
	if k != nil {
		k.during(in)
	}
	err := o.each(in, func(c *lines.Chunk) (done int, err error) {
		for err == nil && done < len(c.Keys) {
			added, n := 0, 1
			if room > 0 {
				end := done + int(min(room, uint64(len(c.Keys)-done)))
				added, n, err = addTo(f, c.Keys[done:end], c.Yes[done:end])
				if errors.Is(err, bloom.ErrFull) {
					err = fmt.Errorf("%w: a new key, and %s", errOverfull, lines.Text(err))
				}
			} else if c.Yes[done] = false; !plain.Contains(c.Keys[done]) { // a key that is present needs no room
				n, err = 0, fmt.Errorf("%w: a new key, and the filter was made for %s keys; %s", errOverfull, grouped(planned), advice)
			}
			room -= uint64(added)
			read, printed, done = read+n, printed+added, done+n
		}
		if k != nil {
			k.printed = printed // k may save the filter after this chunk
		}
		return done, err
	}, o.print(true))
	if err != nil {
		return err
	}
	o.summarise(f, planned, before, read, printed, in.Missing)
	return nil
}

// summarise prints the numbers of lines that were read, printed and dropped, and the fill of the filter. n is the
// number of keys that the filter is for, 0 without a limit. before is the number of keys that it had at the start.
// keyless is the number of lines without a key.
func (o *dedup) summarise(f filterfile.Filter, n, before uint64, read, printed, keyless int) {
	s := f.Stats()
	count, of := s.EstimatedCount, ""
	if n > 0 {
		count, of = before+uint64(printed), " of "+grouped(n)
	}
	if !o.quiet {
		fmt.Fprintf(o.stderr, "%s read, %s printed, %s dropped\n", counted(read+keyless, "line"), grouped(printed+keyless), grouped(read-printed))
		fmt.Fprintf(o.stderr, "filter: %s%s keys, rate %.2g\n", grouped(count), of, s.EstimatedFalsePositiveRate)
	}
	switch {
	case n > 0 && s.N > 0 && s.OverP():
		warn(o.env, s)
	case n > 0 && o.filter != "" && float64(count) >= 0.9*float64(n):
		fmt.Fprintf(o.stderr, "bloom: warning: the filter is nearly full: begin a new file soon (see bloom help dedup)\n")
	}
}
