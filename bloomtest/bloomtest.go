// Package bloomtest tests custom strategies and hashes of package bloom: one call in a test
// checks that a filter keeps its promises with them.
//
//	func TestMine(t *testing.T) {
//		if err := bloomtest.TestStrategy(mine); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// A call takes some seconds. All keys and digests follow from fixed seeds, so a result does not
// change. Allocations are counted, so a test that calls the package must not be parallel.
package bloomtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sigmas is the allowed distance of a measured value from the expected one. Chance exceeds it
// about once in ten million times.
const sigmas = 5.5

// digests returns a function that returns independent digests.
func digests(seed uint64) func() (h1, h2 uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() (h1, h2 uint64) { return r.Uint64(), r.Uint64() }
}

// key returns the i-th of different keys of several lengths.
func key(i uint64) []byte {
	return fmt.Appendf(make([]byte, 0, 48), "key %0*d", int(1+i%20), i)
}

// A check tests one property.
type check struct {
	name string
	run  func() error
}

// all runs the checks and joins their errors. If the first fails, the others are left out.
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

// caught turns a panic of test into an error.
func caught(test func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return test()
}

// concurrently calls call on four goroutines and returns the first error.
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

func noAllocations(name string, call func()) error {
	if n := testing.AllocsPerRun(100, call); n != 0 {
		return fmt.Errorf("%s allocates %v times, want 0", name, n)
	}
	return nil
}

// tooHigh compares a measured rate with a promised one. hits has the false positives of each of
// several filters, out of lookups each.
func tooHigh(hits []float64, lookups int, promised float64) error {
	sum, squares := 0.0, 0.0
	for _, h := range hits {
		sum += h
		squares += h * h
	}
	n := float64(len(hits))
	expected := promised * float64(lookups) * n
	variance := max(expected, squares-sum*sum/n) // of the sum: lookups and filters both vary
	if sum > expected*1.02+sigmas*math.Sqrt(variance)+1 {
		return fmt.Errorf("the rate is %.4g, want at most the promised %.4g (%.0f false positives of %.0f, %.1f sigma)",
			sum/(n*float64(lookups)), promised, sum, n*float64(lookups), (sum-expected)/math.Sqrt(variance))
	}
	return nil
}

// dependence returns how many sigmas the counts of pairs are from those of independent values.
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
	return (chi - cells) / math.Sqrt(2*cells) // there are slightly fewer degrees of freedom than cells
}

func table(rows, columns int) [][]float64 {
	t := make([][]float64, rows)
	for i := range t {
		t[i] = make([]float64, columns)
	}
	return t
}
