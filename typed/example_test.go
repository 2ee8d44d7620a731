package typed_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/typed"
)

func ExampleNew() {
	ids := typed.New(bloom.MustNew(1_000_000, 0.01), binary.LittleEndian.AppendUint64)
	fmt.Println(ids.Add(4711), ids.Add(4711), ids.Contains(4712))
	// Output: true false false
}

// A struct needs a function that says which bytes stand for it. Each string but the last has its
// length before it.
func ExampleNew_struct() {
	type visit struct {
		User, Page string
		Day        uint32
	}
	visits := typed.New(bloom.MustNew(1000, 1e-6), func(dst []byte, v visit) []byte {
		dst = binary.LittleEndian.AppendUint32(dst, v.Day)
		dst = binary.AppendUvarint(dst, uint64(len(v.User)))
		dst = append(dst, v.User...)
		return append(dst, v.Page...)
	})
	fmt.Println(visits.Add(visit{"ann", "/", 1}))
	fmt.Println(visits.Add(visit{"an", "n/", 1}), "another one")
	fmt.Println(visits.Add(visit{"ann", "/", 1}))
	// Output:
	// true
	// true another one
	// false
}

// One filter can hold keys of several types.
func ExampleNew_severalTypes() {
	f := bloom.MustNew(1000, 0.001)
	names := typed.New(f, func(dst []byte, s string) []byte { return append(append(dst, 's'), s...) })
	numbers := typed.New(f, func(dst []byte, n uint64) []byte {
		return binary.LittleEndian.AppendUint64(append(dst, 'n'), n)
	})
	fmt.Println(names.Add("one"), numbers.Add(1), f.Stats().EstimatedCount)
	// Output: true true 2
}

// Other sets can have typed keys too, for example a filter that remembers message numbers for an
// hour.
func ExampleNew_anySet() {
	for _, set := range []typed.Set{&bloom.BloomFilter{}, &rotating.Filter{}, &counting.Filter{}, &persist.File{}} {
		fmt.Printf("%T\n", set)
	}
	recent, err := rotating.New(10_000, 0.001, time.Hour)
	if err != nil {
		panic(err)
	}
	messages := typed.New(recent, binary.LittleEndian.AppendUint64)
	fmt.Println(messages.Add(17), messages.Add(17), messages.Contains(18))
	// Output:
	// *bloom.BloomFilter
	// *rotating.Filter
	// *counting.Filter
	// *persist.File
	// true false false
}

// Types with an AppendBinary method are keys as they are.
func ExampleAppendBinary() {
	hosts := typed.New(bloom.MustNew(1000, 0.001), typed.AppendBinary[netip.Addr])
	fmt.Println(hosts.Add(netip.MustParseAddr("192.0.2.1")))
	fmt.Println(hosts.Contains(netip.MustParseAddr("192.0.2.1")))
	// Output:
	// true
	// true
}

func ExampleFilter_AddMany() {
	ids := typed.New(bloom.MustNew(1000, 0.001), binary.LittleEndian.AppendUint64)
	added := make([]bool, 4)
	fmt.Println(ids.AddMany([]uint64{1, 2, 1, 3}, added), added)
	fmt.Println(ids.ContainsMany([]uint64{3, 4}, nil))
	// Output:
	// 3 [true true false true]
	// 1
}
