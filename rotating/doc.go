// Package rotating implements a Bloom filter that expires keys: it remembers a key for a window of time. It is
// for crawlers that visit a page again after a week, and for dropping messages that come twice
// within an hour.
//
//	// Up to a million different URLs a day. At most one new URL in a million is not fetched.
//	// Strangers choose the URLs: MapHash, or WithSecret for a filter that is saved.
//	f, err := rotating.New(1_000_000, 1e-6, 24*time.Hour, rotating.WithBloom(bloom.WithHash(bloom.MapHash)))
//	if err != nil {
//		return err
//	}
//	if f.AddString(url) {
//		fetch(url) // not in the last 24 hours, and no other goroutine gets true
//	}
//
// Time is cut into generations, by default 4 per window. A key belongs to the generation in which
// it was added, and is forgotten one window after that generation has ended: 1 to 1.25 windows
// after it was added. With more generations ([WithGenerations]) the time is more exact.
//
// # Guarantees
//
//   - No false negatives. Contains of a key is true for the window after Add has returned true.
//   - The rate holds. While at most n different keys come in any one window, the false-positive
//     rate is at most p. All n keys may come at once. If more than n keys come, no key is lost,
//     but the rate rises above p.
//   - At most one winner. If several goroutines add the same key, at most one gets true within
//     the window, also while a generation ends. Exactly one does, unless the key is a false
//     positive.
//   - Contains takes no lock. Contains and Add allocate nothing, except the Add that begins a
//     layer. Other adds of new keys wait for that Add.
//   - Keys are forgotten by the clock, also if there is no further Add.
//
// # Age
//
// A key's age counts from the Add that returned true. Later calls of Add return false and do not
// change it: a page that is linked every minute is still visited once per window. With
// [Filter.Renew], the age counts from the last call.
//
// For messages that carry their time, pass [WithClock] a function that returns the latest time seen.
//
// Add does not add a new key that is a false positive, on average one of 1/p keys. Such a key
// looks present until the older keys are forgotten. Renew adds it in any case.
//
// # Cost
//
// With g generations there are g+1 layers, each for n/g keys at rate p/(3g). At p = 1 % and g = 4
// they take 1.92 times the memory of a plain filter for n keys. In a burst, a generation gets more
// layers. There are at most 3g while at most n keys come in any window, and never more than 4g. A
// lookup of an absent key reads all layers. A lookup of a present key reads the clock.
//
// The Add that begins a layer allocates it. The garbage collector frees forgotten layers. If there
// is no memory for a layer, Add panics with an error that wraps [bloom.ErrTooLarge]. The filter is
// then unchanged, and the next Add tries again.
package rotating
