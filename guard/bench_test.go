package guard

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/seed3447c163/bloom"
)

// What a guard costs over the filter alone, and how that scales:
//
//	go test -run '^$' -bench Absent -cpu 1,2 -count 10 ./guard
//
// Absent keys, as all others go to the store. A million keys, which the cache holds.
func BenchmarkAbsent(b *testing.B) {
	m := newMemStore()
	g := must(New("", 1_000_000, 0.01, m))
	for i := range uint64(1_000_000) {
		m.put(string(binary.LittleEndian.AppendUint64(nil, i)))
	}
	if err := g.Open(context.Background()); err != nil {
		b.Fatal(err)
	}
	f := bloom.MustNew(1_000_000, 0.01)
	if err := f.Union(g.state.Load().filter); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ask  func(key []byte) bool
	}{
		{"filter", f.Contains},
		{"guard", g.Contains},
		{"Get", func(key []byte) bool {
			_, found, _ := Get(context.Background(), g, key, none64)
			return found
		}},
	} {
		b.Run("ask="+c.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				key := make([]byte, 8)
				for i := uint64(1 << 40); pb.Next(); i += 0x9e3779b97f4a7c15 {
					binary.LittleEndian.PutUint64(key, i|1<<40)
					c.ask(key)
				}
			})
		})
	}
}

func none64(context.Context, []byte) (uint64, bool, error) { return 0, false, nil }
