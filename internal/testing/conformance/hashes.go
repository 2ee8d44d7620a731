package conformance

import "github.com/seed3447c163/bloom"

// Hashes returns the hashes of package bloom that WithHash takes, the default first.
func Hashes() []*bloom.Hash { return []*bloom.Hash{bloom.Murmur3, bloom.RapidHash, bloom.MapHash} }
