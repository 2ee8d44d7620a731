package layered

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestAsk: a group has the answers of single lookups, for groups of every size.
func TestAsk(t *testing.T) {
	var filters Layers
	for i := range 3 {
		f := bloom.MustNew(1000, 0.01, bloom.WithSeed(7))
		for j := range 100 {
			f.AddString(fmt.Sprint("key ", 100*i+j))
		}
		filters = filters.Append(f, 0, 0, 0)
	}
	for count := range len(filters) + 1 {
		var b Batch // of more keys than a group has, one after the other
		for size := range Group + 3 {
			keys := make([][]byte, size)
			for i := range keys {
				keys[i] = fmt.Append(nil, "key ", (size*61+i*7)%400)
			}
			b.Hash(filters[0].Scheme(), keys)
			require.Equal(t, min(size, Group), b.Keys)
			b.ask(filters[:count])
			for i, key := range keys[:b.Keys] {
				found := false
				for _, f := range filters[:count] {
					found = found || f.Contains(key)
				}
				require.Equal(t, found, b.Found[i])
			}
		}
	}
}

// BenchmarkAsk looks up absent keys in three layers.
func BenchmarkAsk(b *testing.B) {
	for _, n := range []uint64{10_000, 500_000, 1_000_000, 20_000_000} {
		var layers Layers
		for range 3 {
			layers = append(layers, Layer{BloomFilter: bloom.MustNew(n, 0.01)})
			for i := range n {
				layers.Newest().AddDigest(i*0x9e3779b97f4a7c15, i*0xbf58476d1ce4e5b9)
			}
		}
		b.Run(fmt.Sprintf("bytes=%d", layers[0].SizeBytes()), func(b *testing.B) {
			var group Batch
			keys := make([][]byte, Group)
			for i := range keys {
				keys[i] = make([]byte, 16)
			}
			for i := 0; i < b.N; i += Group {
				for j, key := range keys {
					binary.LittleEndian.PutUint64(key, uint64(i+j))
				}
				group.Hash(layers[0].Scheme(), keys)
				group.ask(layers)
			}
		})
	}
}
