package bloom_test

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// An alarm for a filter whose keys strangers choose: its bits against the number of
// adds. A stranger who knows the hash adds only keys that set k new bits each; chance
// would have let some of them coincide.
func ExampleBloomFilter_Stats_alarm() {
	f := bloom.MustNew(1000, 0.01) // with the hash that everybody knows
	adds := uint64(0)
	alarm := func() bool {
		p := f.Params()
		expected := float64(p.M) * -math.Expm1(-float64(p.K)*float64(adds)/float64(p.M))
		return f.Stats().FillRatio*float64(p.M) > expected+6*math.Sqrt(expected)
	}
	report := func(who string) {
		fmt.Printf("%s: %d adds, fill %.2f, rate %.3f, alarm %v\n", who, adds, f.Stats().FillRatio, f.Stats().EstimatedFalsePositiveRate, alarm())
	}

	for i := range 500 {
		f.AddString(fmt.Sprint("https://example.com/", i))
		adds++
	}
	report("honest")

	// The stranger has a filter of his own that is just like it, and tries keys until he
	// has those that hurt.
	his := f.Clone()
	for i := 0; adds < 1000; i++ {
		url := fmt.Sprint("https://example.org/", i)
		if setsOnlyNewBits(his, url) {
			his.AddString(url)
			f.AddString(url)
			adds++
		}
	}
	report("polluted")
	// Output:
	// honest: 500 adds, fill 0.30, rate 0.000, alarm false
	// polluted: 1000 adds, fill 0.67, rate 0.060, alarm true
}

func setsOnlyNewBits(f *bloom.BloomFilter, key string) bool {
	taken := map[uint64]bool{}
	for _, pos := range f.Scheme().AppendPositions(nil, []byte(key)) {
		if taken[pos] || f.Words()[pos/64].Load()>>(pos%64)&1 == 1 {
			return false
		}
		taken[pos] = true
	}
	return true
}
