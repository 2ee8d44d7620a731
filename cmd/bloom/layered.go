package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/interop/rebloom"
)

// A described filter has other things to say than Stats.
type described interface {
	rows() [][2]string // label and text
	fields() map[string]any
}

// containsEach is ContainsMany of a filter that takes keys one at a time.
func containsEach(contains func([]byte) bool, keys [][]byte, found []bool) (count int) {
	for i, key := range keys {
		if found[i] = contains(key); found[i] {
			count++
		}
	}
	return count
}

type cascadeFilter struct{ *cascade.Cascade }

func readCascade(r io.Reader, opts []bloom.Option) (any, error) {
	c, err := cascade.Read(r, opts...)
	if err != nil {
		return nil, err
	}
	return cascadeFilter{c}, nil
}

func (c cascadeFilter) ContainsMany(keys [][]byte, found []bool) int {
	return containsEach(c.Contains, keys, found)
}

func (c cascadeFilter) rows() [][2]string {
	return [][2]string{
		{"levels", grouped(uint64(len(c.Levels())))},
		{"size", size(c.SizeBytes())},
		{"rate now", "0 for the keys of the two lists that it was made of"},
	}
}

func (c cascadeFilter) fields() map[string]any {
	return map[string]any{"levels": len(c.Levels()), "size_bytes": c.SizeBytes()}
}

type redisFilter struct{ *rebloom.Filter }

func (f redisFilter) ContainsMany(keys [][]byte, found []bool) int {
	return containsEach(f.Contains, keys, found)
}

func (f redisFilter) rows() [][2]string {
	i := f.Info()
	grows := fmt.Sprintf("each layer is for %d times as many keys as the one before", i.Expansion)
	if i.Expansion == 0 {
		grows = "no"
	}
	return [][2]string{
		{"made for", grouped(i.Capacity) + " keys, of all layers"},
		{"layers", grouped(uint64(i.Layers))},
		{"grows", grows},
		{"size", size(i.SizeBytes)},
		{"holds", grouped(i.Items) + " keys"},
	}
}

func (f redisFilter) fields() map[string]any {
	i := f.Info()
	return map[string]any{"capacity": i.Capacity, "layers": i.Layers, "expansion": i.Expansion, "size_bytes": i.SizeBytes, "items": i.Items}
}

// The container of what BF.SCANDUMP gives, of our own: for each chunk its iterator and the
// length of its data, 8 bytes little-endian each, and the data.
const (
	chunkHead     = 16
	redisHeader   = 20      // bytes of the first chunk without layers
	redisLayer    = 53      // and of each layer
	redisLayers   = 1 << 10 // far more than a server makes
	redisMaxChunk = 16 << 20
)

// isRedisBloom: iterator 1 and a header of whole layers.
func isRedisBloom(head []byte, _ int64) bool {
	if len(head) < chunkHead || binary.LittleEndian.Uint64(head) != 1 {
		return false
	}
	length := binary.LittleEndian.Uint64(head[8:])
	return length >= redisHeader+redisLayer && length <= redisHeader+redisLayers*redisLayer && (length-redisHeader)%redisLayer == 0
}

func readRedisBloom(r io.Reader, opts []bloom.Option) (any, error) {
	if len(opts) > 0 {
		return nil, fmt.Errorf("%w: a RedisBloom filter has no secret key, want none", bloom.ErrIncompatible)
	}
	f, err := rebloom.Read(func(yield func(rebloom.Chunk, error) bool) {
		var data bytes.Buffer // grows as the bytes come
		for {
			var head [chunkHead]byte
			switch _, err := io.ReadFull(r, head[:]); {
			case err == io.EOF:
				return
			case errors.Is(err, io.ErrUnexpectedEOF):
				yield(rebloom.Chunk{}, fmt.Errorf("%w: it ends within the head of a chunk", bloom.ErrCorrupt))
				return
			case err != nil:
				yield(rebloom.Chunk{}, err)
				return
			}
			length := binary.LittleEndian.Uint64(head[8:])
			if length > redisMaxChunk {
				yield(rebloom.Chunk{}, fmt.Errorf("%w: a chunk of %d bytes, want at most %d", bloom.ErrCorrupt, length, redisMaxChunk))
				return
			}
			data.Reset()
			if n, err := io.CopyN(&data, r, int64(length)); err == io.EOF {
				yield(rebloom.Chunk{}, fmt.Errorf("%w: it ends after %d of a chunk's %d bytes", bloom.ErrCorrupt, n, length))
				return
			} else if err != nil {
				yield(rebloom.Chunk{}, err)
				return
			}
			if !yield(rebloom.Chunk{Iterator: int64(binary.LittleEndian.Uint64(head[:])), Data: data.Bytes()}, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return redisFilter{f}, nil
}
