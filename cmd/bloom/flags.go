package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// options are the values of all flags. A command has some of the flags.
type options struct {
	*env
	cmd *cobra.Command

	n        number
	p        rate
	strategy choice[bloom.Strategy]
	hash     choice[bloom.Hash]
	keyFile  string

	null      bool
	field     number
	delimiter string
	keys      []string

	output, format, column, filter                string
	force, quiet, invert, count, overfull, asJSON bool
}

// command returns a command with the named flags. A flag with ! must be given.
func command(e *env, c *cobra.Command, flags string, run func(*options, []string) error, defaults ...func(*options)) *cobra.Command {
	o := &options{env: e, cmd: c, p: 0.01, format: native.name, strategy: choice[bloom.Strategy]{bloom.DoubleHashing, strategies}, hash: choice[bloom.Hash]{bloom.Murmur3, hashes}}
	for _, set := range defaults {
		set(o)
	}
	all := o.flags()
	for name := range strings.FieldsSeq(strings.ReplaceAll(flags, "!", "")) {
		c.Flags().AddFlag(all.Lookup(name))
	}
	for name, names := range map[string][]string{"strategy": o.strategy.names(), "hash": o.hash.names(), "format": formatNames()} {
		if c.Flags().Lookup(name) != nil {
			c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	c.DisableFlagsInUseLine = true
	c.RunE = func(_ *cobra.Command, args []string) error {
		if err := o.check(flags, args); err != nil {
			return err
		}
		return run(o, args)
	}
	return c
}

// flags returns the flags of all commands.
func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.VarP(&o.n, "number", "n", "distinct `KEYS` planned for, such as 1M")
	f.VarP(&o.p, "rate", "p", "false-positive `RATE` at that number, such as 0.1%")
	f.VarP(&o.strategy, "strategy", "s", "`STRATEGY` that places a key's bits: "+strings.Join(o.strategy.names()[:4], ", "))
	f.Var(&o.hash, "hash", "`HASH` of the keys: "+strings.Join(o.hash.names(), ", "))
	f.StringVar(&o.keyFile, "key-file", "", "`FILE` with the secret key; default $"+keyVariable)
	f.BoolVarP(&o.null, "null", "0", false, "lines end in NUL instead of newline")
	f.VarP(&o.field, "field", "f", "take field `N` of each line as its key")
	f.StringVarP(&o.delimiter, "delimiter", "d", "", "`CHAR` between fields, default blanks")
	f.StringArrayVarP(&o.keys, "key", "k", nil, "take `KEY`, not files; may be repeated")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` to write, - for standard output")
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	f.StringVar(&o.format, "format", o.format, "`FORMAT` to write (see bloom help formats)")
	f.StringVar(&o.column, "column", "", "`NAME[:ROWGROUP]` of a filter in a Parquet file")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "report only errors and warnings")
	f.BoolVarP(&o.invert, "invert", "v", false, "select the keys that are definitely not in")
	f.BoolVarP(&o.count, "count", "c", false, "print the number of selected lines")
	f.StringVar(&o.filter, "filter", "", "`FILE` that keeps the keys from one run to the next")
	f.BoolVar(&o.overfull, "overfull", false, "go on beyond -n distinct keys")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return f
}

// check refuses missing flags, empty values, which unset shell variables leave, and contradictions.
func (o *options) check(flags string, args []string) (err error) {
	o.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		switch {
		case err != nil:
		case !f.Changed && slices.Contains(strings.Fields(flags), f.Name+"!"):
			err = fmt.Errorf("%s needs --%s %s (see %s --help)", o.cmd.Name(), f.Name, value, o.cmd.CommandPath())
		case f.Changed && f.Value.Type() == "string" && f.Value.String() == "":
			err = fmt.Errorf("--%s is empty, want a value", f.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case len(o.delimiter) > 1:
		return fmt.Errorf("--delimiter %q, want one byte", o.delimiter)
	case o.delimiter != "" && o.field == 0:
		return errors.New("--delimiter without --field")
	}
	return nil
}

func (o *options) given(flag string) bool { return o.cmd.Flags().Changed(flag) }

// wantArgs refuses fewer than least arguments, and more than most.
func wantArgs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s (see %s --help)", cmd.Name(), what, cmd.CommandPath())
		case len(args) > most:
			return fmt.Errorf("%s: %q is one argument too many (see %s --help)", cmd.Name(), args[most], cmd.CommandPath())
		}
		return nil
	}
}

const manyArgs = math.MaxInt

// A number is a flag's whole number from 1: 1000000, 1_000_000, 1e6, 1M.
type number uint64

var powers = map[string]string{"k": "e3", "K": "e3", "M": "e6", "G": "e9", "T": "e12"}

func (n *number) String() string { return strconv.FormatUint(uint64(*n), 10) }
func (n *number) Type() string   { return "N" }

func (n *number) Set(text string) error {
	digits := strings.ReplaceAll(text, "_", "")
	if last := len(digits) - 1; last >= 0 && powers[digits[last:]] != "" {
		digits = digits[:last] + powers[digits[last:]]
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x >= 1 && x < 1<<63) || x != math.Trunc(x) {
		return errors.New("want a whole number from 1 to 2^63, such as 1000000, 1_000_000, 1e6 or 1M")
	}
	*n = number(x)
	return nil
}

// A rate is a flag's false-positive rate: 0.001, 1e-3, 0.1%, 1/1000.
type rate float64

func (r *rate) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *rate) Type() string   { return "RATE" }

func (r *rate) Set(text string) error {
	number, divisor := text, 1.0
	if percents, ok := strings.CutSuffix(text, "%"); ok {
		number, divisor = percents, 100
	} else if one, of, ok := strings.Cut(text, "/"); ok {
		number = one
		divisor, _ = strconv.ParseFloat(of, 64) // 0, a rate of infinity, after an error
	}
	x, err := strconv.ParseFloat(number, 64)
	if x /= divisor; err != nil || !(x > 0 && x < 1) {
		return errors.New("want a rate between 0 and 1, such as 0.001, 1e-3, 0.1% or 1/1000")
	}
	*r = rate(x)
	return nil
}

// strategies are the values of --strategy.
var strategies = append([]bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock, bloom.SeededHashing}, foreign...)

// foreign are the strategies of other systems. bloom.Read needs them to read such a filter.
var foreign = []bloom.Strategy{guava.Mitz64, guava.Mitz32, bitsandblooms.Strategy}

// hashes are the values of --hash. A filter with a secret key has SipHash.
var hashes = []bloom.Hash{bloom.Murmur3, bloom.RapidHash}

// A choice is a flag for one of some named values.
type choice[T interface{ Name() string }] struct {
	value T
	among []T
}

func (c *choice[T]) String() string { return c.value.Name() }
func (c *choice[T]) Type() string   { return "NAME" }

func (c *choice[T]) Set(name string) error {
	i := slices.Index(c.names(), name)
	if i < 0 {
		return fmt.Errorf("want one of %s", strings.Join(c.names(), ", "))
	}
	c.value = c.among[i]
	return nil
}

func (c *choice[T]) names() (names []string) {
	for _, v := range c.among {
		names = append(names, v.Name())
	}
	return names
}

// hashing returns the option for the secret key or the hash, if any.
func (o *options) hashing() ([]bloom.Option, error) {
	opts, err := o.secret()
	switch {
	case err != nil || !o.given("hash"):
		return opts, err
	case len(opts) > 0:
		return nil, fmt.Errorf("--hash %s and a secret key, want at most one: with a key the hash is SipHash", o.hash.value.Name())
	}
	return []bloom.Option{bloom.WithHash(o.hash.value)}, nil
}

// newFilter makes the empty filter of the flags.
func (o *options) newFilter(opts []bloom.Option) (*bloom.BloomFilter, error) {
	return bloom.New(uint64(o.n), float64(o.p), append(opts, bloom.WithStrategy(o.strategy.value))...)
}

const keyVariable = "BLOOM_KEY"

// secret returns the secret key as an option, or none without a key.
func (o *options) secret() ([]bloom.Option, error) {
	source, text := "$"+keyVariable, os.Getenv(keyVariable)
	if o.keyFile != "" {
		raw, err := os.ReadFile(o.keyFile)
		if err != nil {
			return nil, err
		}
		if len(raw) == 16 {
			return []bloom.Option{bloom.WithKey([16]byte(raw))}, nil
		}
		source, text = o.keyFile, string(raw)
	} else if text == "" {
		return nil, nil
	}
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != 16 {
		return nil, fmt.Errorf("%s: %d bytes are no key, want 32 hexadecimal digits, or in a file 16 bytes", source, len(text))
	}
	return []bloom.Option{bloom.WithKey([16]byte(key))}, nil
}
