package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/spf13/cobra"
)

// A count is a flag for a number of keys: 1000000, 1_000_000, 1e6.
type count uint64

func (c *count) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*c), 10)
}
func (c *count) Type() string { return "keys" }

func (c *count) Set(text string) error {
	const want = "want a whole number of keys, at least 1, such as 1000000, 1_000_000 or 1e6"
	plain := strings.ReplaceAll(text, "_", "")
	near, err := strconv.ParseFloat(plain, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && near > math.MaxUint64:
		return fmt.Errorf("too many: want at most %s keys", grouped(uint64(math.MaxUint64)))
	case err != nil || !(near > 0.5): // also NaN
		return errors.New(want)
	}
	// Exactly, also beyond 2^53. The exponent is a small one, as the number is.
	x, ok := new(big.Rat).SetString(plain)
	if !ok || !x.IsInt() {
		return errors.New(want)
	}
	if !x.Num().IsUint64() {
		return fmt.Errorf("too many: want at most %s keys", grouped(uint64(math.MaxUint64)))
	}
	*c = count(x.Num().Uint64())
	return nil
}

// A rate is a flag for a false-positive rate: 0.001, 1e-3, 0.1%.
type rate float64

func (r *rate) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *rate) Type() string   { return "rate" }

func (r *rate) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	if digits, _, _ := strings.Cut(strings.ToLower(number), "e"); err == nil && x == 0 && strings.ContainsAny(digits, "123456789") {
		return fmt.Errorf("want p >= 2^-64, about 5.4e-20")
	}
	if err != nil || !(x > 0 && x < 1) {
		return fmt.Errorf("want a rate between 0 and 1, such as 0.001, 1e-3 or 0.1%%")
	}
	*r = rate(x)
	return nil
}

// strategies are those that a filter can be made with, in the order of the help.
var strategies = append([]bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock, bloom.SeededHashing}, foreign...)

// foreign are other systems' strategies, which a file needs to be read.
var foreign = []bloom.Strategy{guava.Mitz64, guava.Mitz32, bitsandblooms.Strategy}

// A strategyFlag is a flag for a strategy, by its name.
type strategyFlag struct{ bloom.Strategy }

func (s *strategyFlag) Type() string { return "strategy" }

func (s *strategyFlag) Set(name string) error { return setNamed(&s.Strategy, strategies, name) }

// hashes are those that a filter without a secret key can be made with.
var hashes = []bloom.Hash{bloom.Murmur3, bloom.RapidHash}

// A hashFlag is a flag for a hash, by its name; the zero one is none.
type hashFlag struct{ bloom.Hash }

func (h *hashFlag) String() string { return h.Name() }
func (h *hashFlag) Type() string   { return "hash" }

func (h *hashFlag) Set(name string) error { return setNamed(&h.Hash, hashes, name) }

func (h *hashFlag) given() bool { return h.Hash != bloom.Hash{} }

// A named value is chosen by its name.
type named interface{ Name() string }

// setNamed sets a flag's value to that of the known ones which has the name.
func setNamed[T named](value *T, known []T, name string) error {
	for _, k := range known {
		if k.Name() == name {
			*value = k
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(namesOf(known), ", "))
}

func namesOf[T named](known []T) (names []string) {
	for _, k := range known {
		names = append(names, k.Name())
	}
	return names
}

// A plan says which filter to make.
type plan struct {
	n        count
	p        rate
	strategy strategyFlag
	hash     hashFlag
}

// flags adds the plan's flags to a command. p and the strategy have defaults, n must be
// chosen.
func (pl *plan) flags(cmd *cobra.Command, p float64, s bloom.Strategy) {
	pl.p, pl.strategy = rate(p), strategyFlag{s}
	cmd.Flags().VarP(&pl.n, "number", "n", "different keys planned for, e.g. 1e6")
	cmd.Flags().VarP(&pl.p, "rate", "p", "false-positive rate at that number, e.g. 0.001 or 0.1%")
	cmd.Flags().VarP(&pl.strategy, "strategy", "s", "how a key's bits are found: "+strings.Join(namesOf(strategies), ", "))
	complete(cmd, "strategy", namesOf(strategies)...)
}

// hashFlag adds the flag for the hash, for commands that make a filter.
func (pl *plan) hashFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&pl.hash, "hash", "how keys are hashed: "+strings.Join(namesOf(hashes), ", "))
	cmd.Flags().Lookup("hash").DefValue = hashes[0].Name()
	complete(cmd, "hash", namesOf(hashes)...)
}

// complete tells the shell which values a flag may have.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist
	}
}

// options returns the secret key or the hash, or none.
func (pl *plan) options(key *secret) ([]bloom.Option, error) {
	opts, err := key.options()
	switch {
	case err != nil || !pl.hash.given():
		return opts, err
	case len(opts) > 0:
		return nil, fmt.Errorf("--hash %s and a secret key, want at most one: with a key the hash is SipHash", pl.hash.Name())
	}
	return []bloom.Option{bloom.WithHash(pl.hash.Hash)}, nil
}

// empty makes the filter of a plan, with the secret key if there is one.
func (pl *plan) empty(key *secret) (*bloom.BloomFilter, error) {
	opts, err := pl.options(key)
	if err != nil {
		return nil, err
	}
	return pl.filter(opts)
}

func (pl *plan) filter(opts []bloom.Option) (*bloom.BloomFilter, error) {
	return bloom.New(uint64(pl.n), float64(pl.p), append(opts, bloom.WithStrategy(pl.strategy.Strategy))...)
}

// agree returns an error if the filter in a file is not the one that the plan's flags ask
// for, as far as they are given.
func (pl *plan) agree(cmd *cobra.Command, path string, f *bloom.BloomFilter) error {
	given := cmd.Flags().Changed
	p, made, hash := f.Params(), f.Scheme().Strategy(), f.Scheme().Hash()
	// Of the several strategies that are called blocked, one was chosen by n and p.
	want, err := bloom.NewScheme(p.N, p.P, bloom.WithStrategy(pl.strategy.Strategy))
	switch {
	case (given("number") || given("rate")) && p.N == 0 && p.P == 0:
		return fmt.Errorf("%s does not say which -n and -p it was made with, want neither", shown(path))
	case given("number") && uint64(pl.n) != p.N:
		return fmt.Errorf("%s was made with -n %d, want the same or none, not %d", shown(path), p.N, pl.n)
	case given("rate") && float64(pl.p) != p.P:
		return fmt.Errorf("%s was made with -p %v, want the same or none, not %v", shown(path), p.P, pl.p)
	case given("strategy") && made.Name() != pl.strategy.Name() && (err != nil || made.Name() != want.Strategy().Name()):
		return fmt.Errorf("%s was made with -s %s, want the same or none, not %s", shown(path), made.Name(), pl.strategy.Name())
	case pl.hash.given() && hash != pl.hash.Hash:
		return fmt.Errorf("%s was made with hash %s, want the same or none, not %s", shown(path), hash, pl.hash.Name())
	}
	return nil
}

// A choice is a flag that is one of some words.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "word" }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("want one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = text
	return nil
}

// A secret is where a filter's secret key comes from.
type secret struct{ file string }

func (s *secret) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "key-file", "", "`file` with the filter's secret key: 16 bytes or 32 hex digits; default is $"+keyVariable+" (see bloom help secrets)")
}

const keyVariable = "BLOOM_KEY"

// forFile returns the key, as an option, for a filter that was made with one, or was not. The
// environment's key is for the filters that have one; a file that is named for this filter
// must be right.
func (s *secret) forFile(keyed bool) ([]bloom.Option, error) {
	if s.file == "" && !keyed {
		return nil, nil
	}
	return s.options()
}

// options returns the key as an option, or none if there is no key.
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
		if len(raw) == 16 { // digits that somebody forgot half of, not 16 random bytes
			raw = raw[:15]
		}
	default:
		return nil, nil
	}
	if len(raw) != 16 {
		digits := strings.TrimSpace(string(raw))
		decoded, err := hex.DecodeString(digits)
		if err != nil || len(decoded) != 16 {
			return nil, fmt.Errorf("%s: %d bytes are no key, want 32 hexadecimal digits, or in a file 16 bytes", source, len(raw))
		}
		raw = decoded
	}
	return []bloom.Option{bloom.WithKey([16]byte(raw))}, nil
}
