// Package scalable is a Bloom filter that grows, for an unknown number of keys.
//
//	f, err := scalable.New(1_000_000, 0.01) // grows past a million keys, keeps 1 %
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(url)
//
// The filter begins with one layer for n keys. When that is full, it adds one for twice as
// many keys, and so on. Each layer has a lower rate than the one before. The rates of all layers
// sum to p at most, however many keys are added.
//
// # Guarantees
//
// The guarantees are those of package bloom: no misses, a rate of at most p, at most one winner
// per new key, also while a layer is added. Contains takes no lock. Contains and Add allocate
// nothing, except the Add that adds a layer; other adds of new keys wait for that.
//
// # Cost
//
// A lookup asks the layers from the newest to the oldest: an absent key costs as many lookups as
// there are layers. With n guessed right there is one layer at rate p/2: 1.4 bits per key more
// than a plain filter. With n ten times too small there are four layers, the last with 6.2 bits
// per key more, and on average half of it unused. If n is known within a factor of two, a plain
// filter for the larger n is smaller and faster.
//
// # When it is full
//
// The filter grows until its layers would take more than [bloom.WithMaxBytes] or the memory of
// the machine or its container, or until a layer's rate is below its strategy's limit (1e-12
// for Blocked). Then Add returns an error that wraps [ErrFull] for new keys, and Contains works
// as before. The memory of the machine does not count what else runs there: a program that
// must not be killed sets WithMaxBytes.
package scalable
