// Package bloomtest tests custom strategies and hashes for package bloom, and append functions for package typed. One
// call in a test checks that a filter keeps its promises with them.
//
//	func TestMine(t *testing.T) {
//		if err := bloomtest.TestStrategy(mine); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// [TestStrategy] and [TestHash] take some seconds. All keys and digests have fixed seeds, so a test has the same result
// every time. The exception is a hash with a random seed, such as [bloom.MapHash]: a good one fails with probability
// below 10^-9. The package counts allocations, so a test that calls it must not be parallel.
package bloomtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom"
)

// The largest accepted deviations of a measured value, in standard deviations. Chance exceeds them with probability
// 10^-7 for strategies, and 10^-11 for hashes, because a hash may have another seed in each run.
const (
	sigmas     = 5.5
	hashSigmas = 7
)

// digests returns a function that returns independent digests.
func digests(seed uint64) func() (h1, h2 uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() (h1, h2 uint64) { return r.Uint64(), r.Uint64() }
}

// key returns key i of a sequence of different keys of several lengths.
func key(i uint64) []byte {
	const zeros = "key 00000000000000000000"
	digits := strconv.AppendUint(make([]byte, 0, 20), i, 10)
	return append(append(make([]byte, 0, 48), zeros[:4+max(0, 1+int(i%20)-len(digits))]...), digits...)
}

// caught returns the error of call, or an error that describes its panic.
func caught(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return call()
}

// concurrently calls call on four goroutines and returns one of their errors.
func concurrently(call func(worker int) error) error {
	var errs [4]error
	var wg sync.WaitGroup
	for w := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[w] = caught(func() error { return call(w) })
		}()
	}
	wg.Wait()
	return cmp.Or(errs[:]...)
}

func noAllocations(name string, call func()) error {
	if n := testing.AllocsPerRun(100, call); n != 0 {
		return fmt.Errorf("%s allocates %v times, want 0", name, n)
	}
	return nil
}

// rate fills the filter with n keys and looks up other keys, several times. It compares the measured rate with the
// promised one.
func rate(f *bloom.BloomFilter, n uint64, times, lookups int, sigmas float64, add func(), contains func() bool) error {
	p := f.Params()
	sum, squares := 0.0, 0.0
	for range times {
		f.Clear()
		for range n {
			add()
		}
		hits := 0.0
		for range lookups {
			if contains() {
				hits++
			}
		}
		sum += hits
		squares += hits * hits
	}
	all := float64(lookups * times)
	promised := f.Scheme().Strategy().FalsePositiveRate(p.M, p.K, n)
	variance := max(promised*all, squares-sum*sum/float64(times)) // more if the filters' rates differ
	if sum > promised*all*1.02+sigmas*math.Sqrt(variance)+1 {
		return fmt.Errorf("the rate is %.4g, want at most the promised %.4g (%.0f false positives of %.0f, %.1f sigma)",
			sum/all, promised, sum, all, (sum-promised*all)/math.Sqrt(variance))
	}
	return nil
}

// A table counts pairs of values.
type table [32][64]float64

// dependence returns by how many standard deviations the counts differ from those of independent values.
func (t *table) dependence() float64 {
	var rows [32]float64
	var columns [64]float64
	total, chi, cells := 0.0, 0.0, 0.0
	for i, row := range t {
		for j, n := range row {
			rows[i] += n
			columns[j] += n
			total += n
		}
	}
	for i, row := range t {
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
