package bloom_test

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// Who does not know how many keys come makes the filter large, with an m that has all
// small divisors, and shrinks it when they are in.
func ExampleBloomFilter_FoldTo() {
	params, err := bloom.ParamsFor(1_000_000, 0.01, bloom.DoubleHashing)
	if err != nil {
		fmt.Println(err)
		return
	}
	const unit = 2520 * 64 // divisible by 1 to 10
	params.M = (params.M + unit - 1) / unit * unit
	f, err := bloom.NewWithParams(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 90_000 { // only so many came
		f.Add(fmt.Append(nil, "key ", i))
	}
	small, err := f.FoldTo(0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d kB folded by %d to %d kB\n", f.SizeBytes()/1000, f.Params().M/small.Params().M, small.SizeBytes()/1000)
	fmt.Println(small.ContainsString("key 89999"), small.Stats().EstimatedFalsePositiveRate <= 0.01)
	// Output:
	// 1209 kB folded by 10 to 120 kB
	// true true
}

func ExampleParamsForBits() {
	params, err := bloom.ParamsForBits(10_000, 10, bloom.DoubleHashing)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("m = %d, k = %d, rate %.2f %%\n", params.M, params.K, 100*params.P)
	// Output: m = 100032, k = 7, rate 0.82 %
}
