package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints the first line of each distinct key, in order, in constant memory. It
prints a line before it waits for more input.

A new key is taken for an old one, and its line dropped, at a rate of at most
-p, for at most -n distinct keys. At one more, dedup stops with status 3. With
--overfull it goes on and drops more and more.

--filter keeps the keys in a file from one run to the next. The first run makes
it of -n and -p; later runs may leave these out. It is written at the end:
after an error or an interrupt the file is as before, and the next run prints
the same lines again.`

func newDedup(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct line once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup -f 1 a.log                      # the first line of each client
  bloom dedup --filter known.bloom -n 1M today.txt > new-today.txt`,
	}, "number rate strategy hash key-file null field delimiter quiet filter overfull", (*options).dedup, func(o *options) {
		o.n, o.p, o.strategy.value = 10_000_000, 1e-6, bloom.Blocked
	})
}

func (o *options) dedup(files []string) error {
	opts, err := o.hashing()
	if err != nil {
		return err
	}
	if o.filter == "" {
		f, err := o.newFilter(opts)
		if err != nil {
			return err
		}
		return o.printNew(f, 0, files)
	}
	release, err := o.lock(o.filter)
	if err != nil {
		return err
	}
	defer release()
	var f *bloom.BloomFilter
	kept, before := native, uint64(0)
	if _, missing := os.Stat(o.filter); errors.Is(missing, fs.ErrNotExist) {
		f, err = o.newFilter(opts)
	} else if f, kept, err = o.load(o.filter); err == nil {
		before, err = f.Stats().EstimatedCount, errorIn(o.filter, o.agrees(f))
	}
	if err != nil {
		return err
	}
	if kept.write == nil || kept.name == redisbloom { // a plain filter has no growth
		return errOnlyRead(o.filter, kept)
	}
	if err := o.printNew(f, before, files); err != nil {
		return err
	}
	return o.save(o.filter, f, kept)
}

// agrees returns an error if a kept filter was not made with the given flags.
func (o *options) agrees(f *bloom.BloomFilter) error {
	made, strategy := f.Params(), o.strategy.value.Name()
	// Blocked stands for a strategy that n and p choose.
	if s, err := bloom.NewScheme(made.N, made.P, bloom.WithStrategy(o.strategy.value)); err == nil {
		strategy = s.Strategy().Name()
	}
	if o.given("number") && uint64(o.n) != made.N || o.given("rate") && float64(o.p) != made.P ||
		o.given("strategy") && strategy != f.Strategy().Name() || o.given("hash") && o.hash.value.Name() != f.Scheme().Hash().Name() {
		return fmt.Errorf("made with n = %d, p = %v, %v and %v, want the same flags or none", made.N, made.P, f.Strategy(), f.Scheme().Hash())
	}
	return nil
}

// printNew prints the lines whose keys are new to a filter of before keys, and adds the keys.
func (o *options) printNew(f *bloom.BloomFilter, before uint64, files []string) error {
	room, n := uint64(math.MaxUint64), f.Params().N // a file of another program may not say n
	if n > 0 && !o.overfull {
		room = n - min(n, before)
	}
	shown := o.progress("distinct", true)
	err := o.each(files, shown, false, func(c *chunk) error {
		if uint64(len(c.keys)) <= room {
			added := f.AddMany(c.keys, c.yes)
			room -= uint64(added)
			shown.add(len(c.keys), added)
			return nil
		}
		clear(c.yes)
		for i, key := range c.keys {
			if room == 0 && !f.Contains(key) { // a present key needs no room
				return errOverfull
			}
			if c.yes[i] = f.Add(key); c.yes[i] {
				room--
				shown.yes.Add(1)
			}
			shown.lines.Add(1)
		}
		return nil
	}, o.printer(true))
	shown.stop()
	if err == errOverfull {
		return fmt.Errorf("%w: line %s has a new key, and the filter was made for %s keys; want a larger -n, or --overfull",
			errOverfull, grouped(shown.lines.Load()+1), grouped(n))
	}
	if err != nil {
		return err
	}
	read, printed := shown.lines.Load(), shown.yes.Load()
	rate := f.Strategy().FalsePositiveRate(f.Params().M, f.Params().K, before+uint64(printed)) // in a tenth of the time of Stats
	if o.overfull {
		s := f.Stats() // also of the lost keys
		o.warn(s)
		rate = s.EstimatedFalsePositiveRate
	}
	if !o.quiet {
		fmt.Fprintf(o.stderr, "%s lines read, %s printed, %s dropped (expected new ones among these: at most %s)\n",
			grouped(read), grouped(printed), grouped(read-printed), few(min(mostLost(printed, rate), float64(read-printed))))
	}
	return nil
}

// mostLost bounds the expected number of new keys that were taken for old ones, while so many were
// added. At a rate of r, r/(1-r) new keys are lost per added key; the rate was never above the last.
func mostLost(added int64, rate float64) float64 { return float64(added) * rate / (1 - rate) }

// few formats an expected number.
func few(x float64) string {
	switch {
	case !(x >= 0.001): // also NaN: no key was added to a full filter
		return "0.001"
	case x < 100:
		return fmt.Sprintf("%.2g", x)
	}
	return grouped(uint64(math.Ceil(x)))
}
