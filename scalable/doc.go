// Package scalable is a Bloom filter that grows: for those who do not know how many
// keys will come.
//
// It begins as a filter for n keys. When n keys are in, a larger layer is added,
// which takes the keys from then on, and so forth. Each layer has a tighter rate
// than the one before, so that the rates of all of them together stay at most p,
// however many keys come.
//
//	f, err := scalable.New(1_000_000, 0.01) // grows past a million, keeps 1 %
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(url)
//
// # Guarantees
//
// Those of package bloom: no misses; the rate holds, here for any number of keys;
// exactly one winner, also while a layer is added; Contains takes no lock, and
// neither it nor Add allocates anything, except the Add that adds a layer, for which
// other adds of new keys wait. No layer ever holds more keys than it is sized for.
//
// # What it costs
//
// A lookup asks the layers one after the other, newest first: an absent key costs
// as many as there are. Each layer also has more bits to a key than a plain filter
// at p. With n guessed right there is one layer, at rate p/2: 1.4 bits a key more.
// With n ten times too small there are four, the last with 6.2 bits a key more, and
// on average half of it unused. If n is known, package bloom is smaller and faster;
// if it is known within a factor of two, bloom with the larger n still is.
//
// # When it is full
//
// It grows until the machine's memory or a limit of your own ([bloom.WithMaxBytes],
// [WithMaxLayers]) ends that, or a layer's rate is less than its strategy can have (1e-12
// for Blocked). Then Add returns an error that wraps [ErrFull] for new keys, instead of
// an answer that would break the promise of p. All that is in stays in, and Contains
// works as before.
package scalable
