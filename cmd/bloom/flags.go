package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/spf13/cobra"
)

var (
	thousands = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)
	powers    = map[byte]string{'k': "e3", 'K': "e3", 'M': "e6", 'G': "e9", 'T': "e12"}
)

// A count is a flag for a number of keys: 1000000, 1_000_000, 1,000,000, 1e6, 1M.
type count uint64

func (c *count) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*c), 10)
}

func (c *count) Type() string { return "KEYS" }

func (c *count) Set(text string) error {
	plain := strings.ReplaceAll(text, "_", "")
	if thousands.MatchString(plain) {
		plain = strings.ReplaceAll(plain, ",", "")
	}
	if n, err := strconv.ParseUint(plain, 10, 64); err == nil && n > 0 { // also beyond 2^53
		*c = count(n)
		return nil
	}
	if plain != "" && powers[plain[len(plain)-1]] != "" {
		plain = plain[:len(plain)-1] + powers[plain[len(plain)-1]]
	}
	x, err := strconv.ParseFloat(plain, 64)
	switch {
	case x >= 1<<64: // an overflow is +Inf
		return fmt.Errorf("too many: want at most %s keys", grouped(uint64(math.MaxUint64)))
	case err != nil || !(x >= 1) || x != math.Trunc(x):
		return errors.New("want a whole number of keys from 1, such as 1000000, 1_000_000, 1e6 or 1M")
	}
	*c = count(x)
	return nil
}

// A rate is a flag for a false-positive rate: 0.001, 1e-3, 0.1%, 0,1%, 1/1000.
type rate float64

func (r *rate) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *rate) Type() string   { return "RATE" }

func (r *rate) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number, divisor, _ := strings.Cut(strings.Replace(strings.TrimSpace(number), ",", ".", 1), "/")
	x, err := strconv.ParseFloat(number, 64)
	if divisor != "" && err == nil {
		var y float64
		y, err = strconv.ParseFloat(divisor, 64)
		x /= y
	}
	if percent {
		x /= 100
	}
	if err != nil || !(x > 0 && x < 1) {
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
	what  string
	given bool
}

func (c *choice[T]) String() string { return c.value.Name() }
func (c *choice[T]) Type() string   { return c.what }

func (c *choice[T]) Set(name string) error {
	for _, v := range c.among {
		if v.Name() == name {
			c.value, c.given = v, true
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(c.names(), ", "))
}

func (c *choice[T]) names() (names []string) {
	for _, v := range c.among {
		names = append(names, v.Name())
	}
	return names
}

// A plan describes a filter to make.
type plan struct {
	n        count
	p        rate
	strategy choice[bloom.Strategy]
	hash     choice[bloom.Hash]
}

// flags adds the plan's flags to a command. n has no default.
func (pl *plan) flags(cmd *cobra.Command, p float64, s bloom.Strategy) {
	pl.p = rate(p)
	pl.strategy = choice[bloom.Strategy]{value: s, among: strategies, what: "STRATEGY"}
	cmd.Flags().VarP(&pl.n, "number", "n", "distinct keys planned for, such as 1M")
	cmd.Flags().VarP(&pl.p, "rate", "p", "false-positive rate at that number, such as 0.1%")
	cmd.Flags().VarP(&pl.strategy, "strategy", "s", "positions of a key's bits: "+strings.Join(pl.strategy.names()[:4], ", "))
	complete(cmd, "strategy", pl.strategy.names()...)
}

func (pl *plan) hashFlag(cmd *cobra.Command) {
	pl.hash = choice[bloom.Hash]{value: hashes[0], among: hashes, what: "HASH"}
	cmd.Flags().Var(&pl.hash, "hash", "hash of the keys: "+strings.Join(pl.hash.names(), ", "))
	complete(cmd, "hash", pl.hash.names()...)
}

// complete registers the values of a flag for completion.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist
	}
}

// options returns the option for the secret key or the hash, if any.
func (pl *plan) options(key *secret) ([]bloom.Option, error) {
	opts, err := key.options()
	switch {
	case err != nil || !pl.hash.given:
		return opts, err
	case len(opts) > 0:
		return nil, fmt.Errorf("--hash %s and a secret key, want at most one: with a key the hash is SipHash", pl.hash.value.Name())
	}
	return []bloom.Option{bloom.WithHash(pl.hash.value)}, nil
}

// filter makes the empty filter of a plan.
func (pl *plan) filter(opts []bloom.Option) (*bloom.BloomFilter, error) {
	return bloom.New(uint64(pl.n), float64(pl.p), append(opts, bloom.WithStrategy(pl.strategy.value))...)
}

// agree returns an error if a file's filter differs from the given flags.
func (pl *plan) agree(cmd *cobra.Command, path string, f *bloom.BloomFilter) error {
	given := cmd.Flags().Changed
	p, made, hash := f.Params(), f.Scheme().Strategy().Name(), f.Scheme().Hash()
	differs := func(flag string, was, want any) error {
		return fmt.Errorf("%s was made with %s %v, want the same or none, not %v", shown(path), flag, was, want)
	}
	strategy := pl.strategy.value.Name()
	// Blocked stands for a strategy that n and p choose.
	if s, err := bloom.NewScheme(p.N, p.P, bloom.WithStrategy(pl.strategy.value)); err == nil && made != strategy {
		strategy = s.Strategy().Name()
	}
	switch {
	case (given("number") || given("rate")) && p.N == 0 && p.P == 0:
		return fmt.Errorf("%s does not say which -n and -p it was made with, want neither", shown(path))
	case given("number") && uint64(pl.n) != p.N:
		return differs("-n", p.N, uint64(pl.n))
	case given("rate") && float64(pl.p) != p.P:
		return differs("-p", p.P, float64(pl.p))
	case given("strategy") && made != strategy:
		return differs("-s", made, pl.strategy.value.Name())
	case given("hash") && hash != pl.hash.value:
		return differs("--hash", hash, pl.hash.value.Name())
	}
	return nil
}

const keyVariable = "BLOOM_KEY"

// A secret is the source of a filter's secret key.
type secret struct{ file string }

func (s *secret) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "key-file", "", "`FILE` with the secret key; default $"+keyVariable)
}

// forFile returns the key as an option for reading a filter. The environment's key is only for
// filters that have a key.
func (s *secret) forFile(keyed bool) ([]bloom.Option, error) {
	if s.file == "" && !keyed {
		return nil, nil
	}
	return s.options()
}

// options returns the key as an option, or none without a key.
func (s *secret) options() ([]bloom.Option, error) {
	var raw []byte
	source := s.file
	switch text := os.Getenv(keyVariable); {
	case s.file != "":
		var err error
		if raw, err = os.ReadFile(s.file); err != nil {
			return nil, err
		}
	case text != "":
		raw, source = []byte(text), "$"+keyVariable
	default:
		return nil, nil
	}
	if len(raw) != 16 || s.file == "" { // 16 characters in the environment are half a key
		decoded, err := hex.DecodeString(strings.TrimSpace(string(raw)))
		if err != nil || len(decoded) != 16 {
			return nil, fmt.Errorf("%s: %d bytes are no key, want 32 hexadecimal digits, or in a file 16 bytes", source, len(raw))
		}
		raw = decoded
	}
	return []bloom.Option{bloom.WithKey([16]byte(raw))}, nil
}
