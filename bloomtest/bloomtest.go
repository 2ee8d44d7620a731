// Package bloomtest tests strategies and hashes that are defined outside package bloom, as
// testing/fstest tests file systems: one call in a test of your own tries whether they
// keep what a filter promises with them.
//
//	func TestMine(t *testing.T) {
//		if err := bloomtest.TestStrategy(mine); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// The calls take some seconds each. All keys and digests follow from fixed seeds: what
// passes once passes always. Allocations are counted, so a test that calls them must not
// be parallel.
package bloomtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
)

// A Point is a filter whose rate is tried.
type Point struct {
	N uint64
	P float64
}

// sigmas is how far a measured value may be from the expected one by chance: once in some
// ten million times.
const sigmas = 5.5

// digests returns the i-th of digests that are independent of each other.
func digests(seed uint64) func() (h1, h2 uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() (h1, h2 uint64) { return r.Uint64(), r.Uint64() }
}

// key returns the i-th of different keys of several lengths.
func key(i uint64) []byte {
	return fmt.Appendf(make([]byte, 0, 48), "key %0*d", int(1+i%20), i)
}

// caught turns a panic into an error: one of package bloom names the strategy.
func caught(test func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return test()
}

// A check is one of the things that are tried.
type check struct {
	name string
	run  func() error
}

// all runs the checks and joins their errors. What fails the first of them is not tried
// further.
func all(name string, checks ...check) error {
	var failed []error
	for i, c := range checks {
		if err := caught(c.run); err != nil {
			failed = append(failed, fmt.Errorf("bloomtest: %q: %s: %w", name, c.name, err))
			if i == 0 {
				break
			}
		}
	}
	return errors.Join(failed...)
}

// concurrently runs the call on several goroutines and returns the first error.
func concurrently(call func(worker int) error) error {
	const workers = 4
	errs := make(chan error, workers)
	for w := range workers {
		go func() { errs <- caught(func() error { return call(w) }) }()
	}
	var first error
	for range workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// noAllocations holds the calls to none.
func noAllocations(calls map[string]func()) error {
	for name, call := range calls {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			return fmt.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
	return nil
}

// oneWinner has goroutines add the same keys.
func oneWinner(f *bloom.BloomFilter) error {
	const keys = 2000
	won := make([][]bool, 4)
	if err := concurrently(func(worker int) error {
		won[worker] = make([]bool, keys)
		for i := range won[worker] {
			won[worker][i] = f.Add(key(uint64(i)))
		}
		return nil
	}); err != nil {
		return err
	}
	nobody := 0
	for i := range keys {
		winners := 0
		for w := range won {
			if won[w][i] {
				winners++
			}
		}
		if winners > 1 {
			return fmt.Errorf("%d of 4 goroutines that added key %q got true, want 1", winners, key(uint64(i)))
		}
		if winners == 0 {
			nobody++
		}
		if !f.Contains(key(uint64(i))) {
			return fmt.Errorf("key %q was added and is missed", key(uint64(i)))
		}
	}
	if limit := keys / 5; nobody > limit {
		return fmt.Errorf("%d of %d new keys had no winner, want at most %d false positives", nobody, keys, limit)
	}
	return nil
}

// batchesEqualSingle compares AddMany and ContainsMany with Add and Contains.
func batchesEqualSingle(one, many *bloom.BloomFilter) error {
	const keys = 3000
	batch, want, got := make([][]byte, keys), make([]bool, keys), make([]bool, keys)
	for i := range batch {
		batch[i] = key(uint64(i) * 7 % 2500)
		want[i] = one.Add(batch[i])
	}
	many.AddMany(batch, got)
	if !one.Equal(many) || !slices.Equal(want, got) {
		return errors.New("AddMany is not Add of each key")
	}
	for i := range batch {
		batch[i] = key(uint64(i))
		want[i] = one.Contains(batch[i])
	}
	if many.ContainsMany(batch, got); !slices.Equal(want, got) {
		return errors.New("ContainsMany is not Contains of each key")
	}
	return nil
}

// files writes the filter and reads it with and without the options that it needs.
func files(f *bloom.BloomFilter, needs []bloom.Option, builtin bool) error {
	if f.Scheme().Portable() != nil {
		return nil // for this process
	}
	data, err := f.MarshalBinary()
	if err != nil {
		return err
	}
	g, err := bloom.Read(bytes.NewReader(data), needs...)
	if err != nil {
		return err
	}
	if !f.Equal(g) {
		return errors.New("a filter that was written and read is another")
	}
	if _, err := bloom.Read(bytes.NewReader(data)); !builtin && !errors.Is(err, bloom.ErrIncompatible) {
		return fmt.Errorf("a file is read without being given it: %v", err)
	}
	return nil
}

// tooHigh compares a measured rate with a promised one: hits are the false positives of
// each of several filters, of so many questions.
func tooHigh(hits []float64, asks int, promised float64) error {
	sum, squares := 0.0, 0.0
	for _, h := range hits {
		sum += h
		squares += h * h
	}
	n := float64(len(hits))
	expected := promised * float64(asks) * n
	variance := max(expected, squares-sum*sum/n) // of the sum: questions and filters both vary
	if sum > expected*1.02+sigmas*math.Sqrt(variance)+1 {
		return fmt.Errorf("the rate is %.4g, want at most the promised %.4g (%.0f false positives of %.0f, %.1f sigma)",
			sum/(n*float64(asks)), promised, sum, n*float64(asks), (sum-expected)/math.Sqrt(variance))
	}
	return nil
}

// dependence returns how many sigmas the counts of pairs are from those of independent
// values.
func dependence(pairs [][]float64) float64 {
	rows, columns, total := make([]float64, len(pairs)), make([]float64, len(pairs[0])), 0.0
	for i, row := range pairs {
		for j, n := range row {
			rows[i] += n
			columns[j] += n
			total += n
		}
	}
	chi, cells := 0.0, 0.0
	for i, row := range pairs {
		for j, n := range row {
			if want := rows[i] * columns[j] / total; want > 0 {
				chi += (n - want) * (n - want) / want
				cells++
			}
		}
	}
	if cells < 4 {
		return 0
	}
	return (chi - cells) / math.Sqrt(2*cells) // cells is a little more than the degrees of freedom
}
