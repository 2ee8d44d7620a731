package main

import (
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	ourguava "github.com/seed3447c163/bloom/interop/guava"
)

// Rows that others are divided by: they must be among ourPeers.
const (
	referencePortable = "ours: Blocked, Murmur3" // the hash that can be stored in files
	referenceFastest  = "ours: Blocked, MapHash" // the hash of this process
)

// ourPeers are this library's strategies and hashes, a key at a time and, with the
// suffix batch, a chunk of keys a call.
func ourPeers() []*peer {
	type kind struct {
		name     string
		strategy bloom.Strategy
		batch    bool
		opts     []bloom.Option
	}
	fast := []bloom.Option{bloom.WithHash(bloom.MapHash)}
	var list []*peer
	for _, k := range []kind{
		{name: referencePortable, strategy: bloom.Blocked},
		{name: referenceFastest, strategy: bloom.Blocked, opts: fast},
		{name: "ours: SplitBlock, MapHash", strategy: bloom.SplitBlock, opts: fast},
		{name: "ours: Blocked1, MapHash", strategy: bloom.Blocked1, opts: fast},
		{name: "ours: DoubleHashing, Murmur3", strategy: bloom.DoubleHashing},
		{name: "ours: DoubleHashing, MapHash", strategy: bloom.DoubleHashing, opts: fast},
		{name: "ours: SeededHashing, Murmur3", strategy: bloom.SeededHashing},
		{name: "ours: GuavaMitz64, Murmur3", strategy: ourguava.Mitz64},
		{name: "ours: BitsAndBlooms, Murmur3", strategy: bitsandblooms.Strategy},
		{name: referencePortable + ", batch", strategy: bloom.Blocked, batch: true},
		{name: referenceFastest + ", batch", strategy: bloom.Blocked, batch: true, opts: fast},
		{name: "ours: SplitBlock, MapHash, batch", strategy: bloom.SplitBlock, batch: true, opts: fast},
		{name: "ours: DoubleHashing, MapHash, batch", strategy: bloom.DoubleHashing, batch: true, opts: fast},
	} {
		hash := "Murmur3"
		if k.opts != nil {
			hash = "the runtime's (MapHash)"
		}
		list = append(list, &peer{
			name: k.name, module: ourModule, hash: hash, safe: safeFull, ours: true,
			blocked: k.strategy == bloom.Blocked || k.strategy == bloom.Blocked1 || k.strategy == bloom.SplitBlock,
			make: func(n uint64, p float64) (filter, error) {
				f, err := bloom.New(n, p, append([]bloom.Option{bloom.WithStrategy(k.strategy)}, k.opts...)...)
				if k.batch {
					return batches{oneByOne{f}}, err
				}
				return oneByOne{f}, err
			},
		})
	}
	return list
}

// referenceBits is the size of our blocked filter, which the floors are given.
func referenceBits(n uint64, p float64) (uint64, error) {
	params, err := bloom.ParamsFor(n, p, bloom.Blocked)
	return params.M, err
}
