package typed_test

import (
	"encoding/binary"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/typed"
)

// These filters are Sets. So are others with these methods.
var _ = []typed.Set{(*bloom.BloomFilter)(nil), (*rotating.Filter)(nil), (*counting.Filter)(nil), (*persist.File)(nil)}

func ExampleNew() {
	ids := typed.New(bloom.MustNew(1_000_000, 0.01), binary.LittleEndian.AppendUint64)
	fmt.Println(ids.Add(4711), ids.Add(4711), ids.Contains(4712))
	// Output: true false false
}
