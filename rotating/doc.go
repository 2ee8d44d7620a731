// Package rotating is a Bloom filter that forgets: it remembers a key for a window of time. It is
// for crawlers that visit a page again after a week, and for dropping messages that come twice
// within the hour.
//
//	// Up to a million different URLs a day, at most 1 % false positives.
//	f, err := rotating.New(1_000_000, 0.01, 24*time.Hour)
//	if err != nil {
//		return err
//	}
//	if f.AddString(url) {
//		fetch(url) // not in the last 24 hours, and no other goroutine gets true
//	}
//
// Time is cut into generations, by default 4 per window. A key belongs to the generation in which
// it was added, and is forgotten one window after that generation has ended: 1 to 1.25 windows
// after it was added. [WithGenerations] makes this more exact.
//
// # Guarantees
//
//   - No misses. Contains of a key is true for the window after Add has returned true.
//   - The rate holds. While at most n different keys come in any one window, an absent key is
//     found at a rate of at most p. Bursts are fine: all n keys may come at once. If more than n
//     come, no key is lost, but the rate rises above p.
//   - One winner. Of any number of goroutines that add the same key, at most one gets true within
//     the window, also while a generation ends; exactly one unless the key is a false positive.
//   - Contains takes no lock. Contains and Add allocate nothing, except the Add that begins a
//     layer; other adds of new keys wait for that.
//   - Idle time forgets too: the clock decides, not the next Add.
//
// # Age
//
// A key's age counts from the Add that returned true. Further Adds return false and do not renew
// it: a page that is linked every minute is still visited once per window. [Filter.Renew] counts
// from the last time the key was seen.
//
// Add does not add a new key that is a false positive. Such a key, one of 1/p, seems to be there
// until the old keys are forgotten. Renew adds it in any case.
//
// # Cost
//
// With g generations there are g+1 layers, each for n/g keys at rate p/(3g). At p = 1 % and g = 4
// that is 1.9 times the memory of a plain filter for n keys. In a burst a generation gets more
// layers: 3g in all while at most n keys come in any window, 4g at most. A lookup of an absent
// key asks all layers. A lookup of a present key reads the clock.
//
// The Add that begins a layer allocates it and leaves the forgotten layer to the garbage
// collector. If the system refuses memory for a layer, that Add panics with an error that wraps
// [bloom.ErrTooLarge]. The filter is then unchanged, and the next Add tries again.
package rotating
