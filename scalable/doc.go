// Package scalable implements a Bloom filter that grows, for an unknown number of keys.
//
//	f, err := scalable.New(1_000_000, 0.01) // grows past a million keys, keeps 1 %
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(user)
//
// The filter begins with one layer for n keys. When a layer is full, the filter adds a layer for twice as many keys,
// with a lower rate. The rates of all layers sum to at most p, however many keys are added.
//
// # Guarantees
//
// The guarantees are as in package bloom: no false negatives, a rate of at most p, at most one winner per new key, also
// while a layer is added. While no add is running, [Filter.Count] is the number of true answers. Contains takes no
// lock. Contains and Add allocate nothing, except the Add that makes a new layer. Meanwhile other adds of new keys
// wait.
//
// # Cost
//
// A lookup reads the layers from the newest to the oldest, so an absent key costs one lookup per layer. If n was right,
// there is one layer, at about rate p/2. It takes 1.4 bits per key more than a plain filter. If n was ten times too
// small, there are four layers. The last takes 6.2 bits per key more, and on average half of it is unused. The memory
// is 1.3 times the memory of a plain filter for the keys so far when the last layer is full, and up to 3.9 times when a
// new one begins. If you know n within a factor of two, a plain filter for the larger n is smaller and faster.
//
// # When it is full
//
// The filter grows until its layers would take more than [bloom.WithMaxBytes] or the memory of the machine or its
// container. Then Add of a new key adds nothing and returns an error that wraps [bloom.ErrFull]. Contains works as
// before. The filter does not know how much memory other programs use. If running out of memory must not end the
// process, set WithMaxBytes. [New] refuses a strategy or a hash that cannot have 20 layers. Together, 20 layers hold a
// million times n keys.
package scalable
