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
