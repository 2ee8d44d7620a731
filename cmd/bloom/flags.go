package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/seed3447c163/bloom/cmd/internal/sizing"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const secretVariable = "BLOOM_SECRET"

// A command is a parsed command line: its environment, and the values of the flags that several commands share.
type command struct {
	*env
	cmd *cobra.Command

	n        uint64
	p        float64
	strategy bloom.Strategy
	hash     *bloom.Hash

	form lines.Form // except End, which depends on null
	null bool
	keys []string

	secretFile, column, filter, output string
	format                             *filterfile.Format
	maxMemory                          uint64      // largest size of a filter in bytes; 0 if unlimited
	excluded                           [][2]string // pairs of flags that exclude each other
	force, quiet, asJSON               bool

	progress progress
}

// newCommand wraps c and gives it the shared flags whose names, separated by blanks, are in flags.
func newCommand(e *env, c *cobra.Command, flags string) *command {
	o := &command{env: e, cmd: c, format: &filterfile.Native, form: lines.Form{MaxLine: 64 << 20}}
	strategies := slices.Concat(bloom.Strategies(), filterfile.Strategies())
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	flag(f, &o.n, number, "number", "n", "distinct `KEYS` planned for, such as 1M")
	flag(f, &o.p, rate, "rate", "p", "false-positive `RATE` at that number, such as 0.1%")
	flag(f, &o.strategy, oneOf(strategies), "strategy", "s",
		"`STRATEGY` that places a key's bits: "+strings.Join(names(strategies), ", "))
	flag(f, &o.hash, oneOf(hashes), "hash", "", "`HASH` of the keys: "+strings.Join(names(hashes), ", "))
	flag(f, &o.secretFile, notEmpty, "secret-file", "", "`FILE` with the secret; default $"+secretVariable)
	f.BoolVarP(&o.null, "null", "0", false, "lines end in NUL instead of newline")
	f.BoolVar(&o.form.CRLF, "crlf", false, "keys end before CR; skip a UTF-8 mark at the start")
	flag(f, &o.form.MaxLine, memory, "max-line", "", "`SIZE` of the longest line, default 64MiB")
	f.FuncP("field", "f", "take field `N` of each line as its key, or with N- the line from there on", o.parseField)
	flag(f, &o.form.Delimiter, delimiter, "delimiter", "d", "`TEXT` between fields, default blanks; \\t: a tab")
	f.StringArrayVarP(&o.keys, "key", "k", nil, "take `KEY`, not files; may be repeated")
	flag(f, &o.output, notEmpty, "output", "o", "`FILE` to write, - for standard output")
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	flag(f, &o.format, filterfile.Named, "format", "", "`FORMAT` to write (see bloom help formats)")
	flag(f, &o.column, notEmpty, "column", "", "`NAME[:ROWGROUP]` of a filter in a Parquet file")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "report only errors and warnings")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	for name := range strings.FieldsSeq(flags) {
		c.Flags().AddFlag(f.Lookup(name))
	}
	if c.Flags().Lookup("null") != nil {
		c.Flags().AddFlag(f.Lookup("crlf"))
		c.Flags().AddFlag(f.Lookup("max-line"))
		o.exclude("null", "crlf")
	}
	if c.Flags().Lookup("key") != nil {
		o.exclude("key", "field") // the value of --key is the whole key
	}
	c.MarkFlagRequired("output") // no effect if the command lacks the flag
	for name, values := range map[string][]string{"strategy": names(strategies), "hash": names(hashes), "format": filterfile.Names()} {
		if c.Flags().Lookup(name) != nil {
			c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return o
}

func (o *command) given(flag string) bool { return o.cmd.Flags().Changed(flag) }

// runs returns the cobra command, which checks the flags and files and then calls run with its arguments.
func (o *command) runs(run func(args []string) error) *cobra.Command {
	o.cmd.DisableFlagsInUseLine, o.cmd.PreRunE = true, o.checkFlags
	o.cmd.RunE = func(_ *cobra.Command, args []string) error {
		read := append(slices.Clone(args), o.filter)
		if o.cmd.Flags().Lookup("null") != nil && len(o.keys) == 0 {
			read = append(read, "-")
		}
		if err := apart(read); err != nil {
			return err
		}
		return run(args)
	}
	return o.cmd
}

// flag adds a flag to f. parse converts its text to the value, which is stored in to.
func flag[T any](f *pflag.FlagSet, to *T, parse func(text string) (T, error), name, short, usage string) {
	f.FuncP(name, short, usage, func(text string) (err error) {
		*to, err = parse(text)
		return err
	})
}

// number parses a whole number of at least 1: 1000000, 1_000_000, 1e6, 1M.
func number(text string) (uint64, error) {
	x, err := sizing.Number(text, false)
	if err != nil {
		return 0, err
	} else if !(x >= 1 && x < 1<<63) || x != math.Trunc(x) {
		return 0, errors.New("want a whole number from 1 to 2^63, such as 1000000, 1_000_000, 1e6 or 1M")
	}
	return uint64(x), nil
}

// parseField parses the value of --field: N for field N, or N- for the line from field N to its end.
func (o *command) parseField(text string) (err error) {
	n, toEnd := strings.CutSuffix(text, "-")
	if o.form.Field, err = strconv.ParseUint(n, 10, 64); err != nil || o.form.Field == 0 {
		err = errors.New("want a whole number from 1, such as 2, or 2- for the line from field 2 on")
	}
	o.form.ToEnd = toEnd
	return err
}

var escape = regexp.MustCompile(`\\(?:[t\\]|0[0-9]*|x[[:xdigit:]]{2})?`)

// delimiter parses a text in which \t, \\, \0 and \xNN stand for a byte.
func delimiter(text string) (string, error) {
	bad := text == ""
	text = escape.ReplaceAllStringFunc(text, func(e string) string {
		if code, hexadecimal := strings.CutPrefix(e, `\x`); hexadecimal {
			b, _ := hex.DecodeString(code)
			return string(b)
		}
		b, known := map[string]string{`\t`: "\t", `\\`: `\`, `\0`: "\x00"}[e]
		bad = bad || !known // also refuses \011, in other programs a tab
		return b
	})
	if bad {
		return "", errors.New(`want a text, in which a backslash begins \t, \\, \0 or \xNN`)
	}
	return text, nil
}

// rate parses a false-positive rate: 0.001, 1e-3, 0.1%, 1/1000.
func rate(text string) (float64, error) {
	x, err := sizing.Number(text, true)
	if err != nil {
		return 0, err
	} else if !(x > 0 && x < 1) {
		return 0, errors.New("want a rate between 0 and 1, such as 0.001, 1e-3, 0.1% or 1/1000")
	}
	return x, nil
}

// memory parses a number of bytes, with or without a unit: 1000, 500MB, 1GiB.
func memory(text string) (uint64, error) {
	at := len(text)
	if letter := strings.IndexFunc(text, unicode.IsLetter); letter >= 0 {
		at = letter
	}
	x, err := sizing.Number(text[:at], false)
	if err != nil {
		return 0, err
	}
	unit, err := humanize.ParseBytes("1" + text[at:])
	if x *= float64(unit); err != nil || !(x >= 1 && x < 1<<50) {
		return 0, errors.New("want a size from 1B to less than 1PiB, such as 500MB or 1GiB")
	}
	return uint64(x), nil
}

// duration parses a duration. Unlike time.ParseDuration, it accepts days: 30d.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		if n, err = strconv.ParseFloat(days, 64); n < 100*365 {
			d = time.Duration(n * 24 * float64(time.Hour))
		}
	}
	if err != nil || d <= 0 {
		return 0, errors.New("want a time such as 30d, 12h or 90m")
	}
	return d, nil
}

// notEmpty returns text, or an error if text is empty, as from an unset shell variable.
func notEmpty(text string) (string, error) {
	if text == "" {
		return "", errors.New("want a value")
	}
	return text, nil
}

// oneOf returns a function that finds a value in among by its name.
func oneOf[T interface{ Name() string }](among []T) func(string) (T, error) {
	return func(name string) (value T, err error) {
		i := slices.Index(names(among), name)
		if i < 0 {
			return value, fmt.Errorf("want one of %s", strings.Join(names(among), ", "))
		}
		return among[i], nil
	}
}

func names[T interface{ Name() string }](among []T) (names []string) {
	for _, v := range among {
		names = append(names, v.Name())
	}
	return names
}

// hashes has the values of --hash: the hashes whose filters can be written to files.
var hashes = []*bloom.Hash{bloom.Murmur3, bloom.RapidHash}
