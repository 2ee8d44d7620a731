package growing

import (
	"encoding/binary"

	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// A hash is the digest of a key, from which each layer has its positions.
type hash struct{ h1, h2 uint64 }

func hashesOf[K []byte | string](f *Filter, keys []K) []hash {
	all := make([]hash, len(keys))
	for i, key := range keys {
		all[i].h1, all[i].h2 = onekey.Hash(f.hash, key)
	}
	return all
}

// A place is where a key's bits are in a layer.
type place struct {
	onekey.Block
	at uint64 // where the block begins in the value
}

// placeIn returns the place of a key. positions is room for some numbers.
func (h hash) placeIn(l layer, positions []uint64) (p place, _ []uint64) {
	positions = l.scheme.AppendDigestPositions(positions[:0], h.h1, h.h2)
	p.Block = onekey.BlockOf(positions)
	p.at = l.at + p.Index*blockBytes
	return p, positions
}

// pack writes what scriptAdd reads of keys.
func (f *Filter) pack(layers []layer, hashes []hash) []byte {
	dst := make([]byte, 0, len(hashes)*(2+len(layers)*(20+9*f.words)))
	var positions []uint64
	for _, h := range hashes {
		begin := len(dst)
		dst = append(dst, 0, 0)
		for i := len(layers) - 1; i >= 0; i-- {
			var p place
			p, positions = h.placeIn(layers[i], positions)
			first, last := p.Span()
			dst = p.Append(dst, p.at+uint64(first)*8, p.at+uint64(last)*8+7, first)
		}
		binary.LittleEndian.PutUint16(dst[begin:], uint16(len(dst)-begin-2))
	}
	return dst
}
