package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom"
)

// hashing returns the option for the secret or for --hash. It returns none if neither is given.
func (o *command) hashing() ([]bloom.Option, error) {
	opts, err := o.secret(true)
	switch {
	case err != nil || !o.given("hash"):
		return opts, err
	case len(opts) > 0:
		return nil, fmt.Errorf("--hash %s and a secret, want at most one: with a secret the hash is SipHash", o.hash.Name())
	}
	return []bloom.Option{bloom.WithHash(o.hash)}, nil
}

// limits returns the option for --max-memory, or none.
func (o *command) limits() []bloom.Option {
	if o.maxMemory == 0 {
		return nil
	}
	return []bloom.Option{bloom.WithMaxBytes(o.maxMemory)}
}

// makeFilter makes the empty filter for the flags. Without flags for strategy and hash, it tries Blocked with
// RapidHash, the fastest. If these cannot reach the rate, it tries Murmur3, and then DoubleHashing with either hash.
func makeFilter[F any](o *command, create func(opts ...bloom.Option) (F, error)) (f F, err error) {
	hashing, err := o.hashing()
	if err != nil {
		return f, err
	}
	strategies := []bloom.Strategy{bloom.Blocked, bloom.DoubleHashing}
	if o.given("strategy") {
		strategies = []bloom.Strategy{o.strategy}
	}
	for _, s := range strategies {
		choices := [][]bloom.Option{hashing}
		if len(hashing) == 0 && slices.Contains(bloom.Strategies(), s) && !s.NeedsKey() {
			choices = [][]bloom.Option{{bloom.WithHash(bloom.RapidHash)}, nil}
		}
		for _, opts := range choices {
			if f, err = create(append(slices.Concat(opts, o.limits()), bloom.WithStrategy(s))...); !errors.Is(err, bloom.ErrInvalid) {
				return f, err
			}
		}
	}
	return f, err
}

func (o *command) plain() (*bloom.BloomFilter, error) {
	return makeFilter(o, func(opts ...bloom.Option) (*bloom.BloomFilter, error) {
		return bloom.New(o.n, o.p, opts...)
	})
}

// agrees returns an error if a given flag differs from the value with which a filter was made. If made.N is 0, it does
// not compare -n.
func (o *command) agrees(made bloom.Stats) error {
	n := ""
	if made.N > 0 {
		n = fmt.Sprintf("n = %d, ", made.N)
	}
	if o.given("number") && made.N > 0 && o.n != made.N || o.given("rate") && o.p != made.P ||
		o.given("strategy") && o.strategy.Name() != made.Strategy || o.given("hash") && o.hash.Name() != made.Hash {
		return fmt.Errorf("made with %sp = %v, %s and %s, want the same flags or none", n, made.P, made.Strategy, made.Hash)
	}
	return nil
}
