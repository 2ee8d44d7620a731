package filters

import (
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
)

// Reference is the row that others are divided by.
const Reference = "ours: SplitBlock, RapidHash"

// Ours are this library's strategies and hashes, a key at a time and, with the suffix
// batch, a chunk of keys a call.
func Ours() (list []*Peer) {
	const rapid, maphash, murmur3, xxh = "rapidhash", "the runtime's (MapHash)", "Murmur3", "xxh3, as own hash"
	options := map[string][]bloom.Option{
		rapid:   {bloom.WithHash(bloom.RapidHash)},
		maphash: {bloom.WithHash(bloom.MapHash)},
		xxh:     {bloom.WithHash(bloom.NewHash64("xxh3", xxh3.Hash))},
	}
	for _, kind := range []struct {
		name, hash string
		strategy   bloom.Strategy
		wrap       func(*bloom.BloomFilter) Filter
	}{
		{"SplitBlock, RapidHash", rapid, bloom.SplitBlock, Single},
		{"SplitBlock, RapidHash, batch", rapid, bloom.SplitBlock, batch},
		{"SplitBlock, MapHash", maphash, bloom.SplitBlock, Single},
		{"SplitBlock, MapHash, batch", maphash, bloom.SplitBlock, batch},
		{"SplitBlock, Murmur3", murmur3, bloom.SplitBlock, Single},
		{"SplitBlock, xxh3", xxh, bloom.SplitBlock, Single},
		{"Blocked, RapidHash", rapid, bloom.Blocked, Single},
		{"Blocked, RapidHash, batch", rapid, bloom.Blocked, batch},
		{"Blocked, MapHash", maphash, bloom.Blocked, Single},
		{"Blocked, MapHash, batch", maphash, bloom.Blocked, batch},
		{"Blocked, Murmur3", murmur3, bloom.Blocked, Single},
		{"Blocked, Murmur3, batch", murmur3, bloom.Blocked, batch},
		{"Blocked1, RapidHash", rapid, bloom.Blocked1, Single},
		{"DoubleHashing, RapidHash", rapid, bloom.DoubleHashing, Single},
		{"DoubleHashing, RapidHash, batch", rapid, bloom.DoubleHashing, batch},
		{"DoubleHashing, MapHash", maphash, bloom.DoubleHashing, Single},
		{"DoubleHashing, MapHash, batch", maphash, bloom.DoubleHashing, batch},
		{"DoubleHashing, Murmur3", murmur3, bloom.DoubleHashing, Single},
		{"SeededHashing, Murmur3", murmur3, bloom.SeededHashing, Single},
		{"guava.Mitz64, Murmur3", murmur3, guava.Mitz64, Single},
		{"bitsandblooms.Strategy, Murmur3", murmur3, bitsandblooms.Strategy, Single},
		{"SplitBlock, hashed keys", "–", bloom.SplitBlock, hashed},
		{"SplitBlock, hashed keys, batch", "–", bloom.SplitBlock, hashedBatch},
		{"Blocked, hashed keys", "–", bloom.Blocked, hashed},
	} {
		list = append(list, &Peer{
			Name: "ours: " + kind.name, Hash: kind.hash, Safe: Full, Hashed: kind.hash == "–", Ours: true,
			Make: func(n uint64, p float64) (Filter, error) {
				f, err := bloom.New(n, p, append(options[kind.hash], bloom.WithStrategy(kind.strategy))...)
				return kind.wrap(f), err
			},
		})
	}
	return list
}

// Single is a filter of ours, a key at a time.
func Single(f *bloom.BloomFilter) Filter      { return ours{f} }
func batch(f *bloom.BloomFilter) Filter       { return oursBatch{ours{f}} }
func hashed(f *bloom.BloomFilter) Filter      { return oursHashed{ours{f}} }
func hashedBatch(f *bloom.BloomFilter) Filter { return oursHashedBatch{ours{f}} }

type ours struct{ *bloom.BloomFilter }

func (o ours) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return o.BloomFilter.Add(key) })
}
func (o ours) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return o.BloomFilter.Contains(key) })
}
func (o ours) Bits() uint64 { return o.SizeBytes() * 8 }

// Filter returns the filter itself.
func (o ours) Filter() *bloom.BloomFilter { return o.BloomFilter }

// A batch has an answer for each key, as a program would want them.
type oursBatch struct{ ours }

func (o oursBatch) Add(keys Keys) int { return o.AddMany(keys.Bytes, keys.Answers[:len(keys.Bytes)]) }
func (o oursBatch) Contains(keys Keys) int {
	return o.ContainsMany(keys.Bytes, keys.Answers[:len(keys.Bytes)])
}

type oursHashed struct{ ours }

func (o oursHashed) Add(keys Keys) int {
	return numberHashed(keys.Digests, func(h1, h2 uint64) bool { return o.AddDigest(h1, h2) })
}
func (o oursHashed) Contains(keys Keys) int {
	return numberHashed(keys.Digests, func(h1, h2 uint64) bool { return o.ContainsDigest(h1, h2) })
}

type oursHashedBatch struct{ ours }

func (o oursHashedBatch) Add(keys Keys) int {
	return o.AddDigests(keys.Digests, keys.Answers[:len(keys.Digests)])
}
func (o oursHashedBatch) Contains(keys Keys) int {
	return o.ContainsDigests(keys.Digests, keys.Answers[:len(keys.Digests)])
}
