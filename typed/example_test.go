package typed_test

import (
	"encoding/binary"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/seed3447c163/bloom/typed"
)

func ExampleNewGrowing() {
	f, err := scalable.New(1000, 0.01)
	if err != nil {
		panic(err)
	}
	ids := typed.NewGrowing(f, binary.LittleEndian.AppendUint64)
	added, err := ids.Add(4711)
	fmt.Println(added, err, ids.Contains(4711))
	// Output: true <nil> true
}

func ExampleNew() {
	ids := typed.New(bloom.MustNew(1_000_000, 0.01), binary.LittleEndian.AppendUint64)
	fmt.Println(ids.Add(4711), ids.Add(4711), ids.Contains(4712))
	// Output: true false false
}

// A struct of two strings: the length of the first tells where the second begins.
func ExampleNew_struct() {
	type visit struct{ user, page string }
	visits := typed.New(bloom.MustNew(1_000_000, 0.01), func(dst []byte, v visit) []byte {
		dst = binary.AppendUvarint(dst, uint64(len(v.user)))
		return append(append(dst, v.user...), v.page...)
	})
	fmt.Println(visits.Add(visit{"ab", "c"}), visits.Add(visit{"a", "bc"}))
	// Output: true true
}
