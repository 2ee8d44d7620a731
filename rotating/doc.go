// Package rotating implements a Bloom filter that forgets a key after a window of time. Use it in a crawler, to visit a
// page again after a week, or to drop messages that come twice within an hour.
//
//	// About a million different URLs a day. At most one new URL in a million is not fetched.
//	// Strangers choose the URLs: MapHash, or WithSecret for a filter that is saved.
//	f, err := rotating.New(1_000_000, 1e-6, 24*time.Hour, rotating.WithBloom(bloom.WithHash(bloom.MapHash)))
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(url)
//	if added || err != nil {
//		fetch(url) // it is new, and no other goroutine gets true; or there is no room for it
//	}
//
// Time is cut into generations, by default 4 per window. A key belongs to the generation of its add. The filter forgets
// the key one window after the end of that generation: 1 to 1.25 windows after the add. With more generations
// ([WithGenerations]), the time is more exact.
//
// # Guarantees
//
//   - No false negatives. Once Add has returned true, Contains of the key is true until the window has passed.
//   - The rate holds. The false-positive rate is at most p, however many keys are added.
//   - The count is exact. While no add is running, [Filter.Count] is the number of true answers minus the forgotten
//     keys. (If a generation ends during an Add and the next generation is already full, the key counts in the first
//     one.)
//   - Without room for a new key, Add adds nothing and returns an error that wraps [bloom.ErrFull]. The next generation
//     has room.
//   - At most one winner. If several goroutines add the same key, at most one gets true within the window, also while a
//     generation ends. In two cases none gets true: the key is a false positive; or the key's first Add or Renew
//     began in one generation, and a Renew of the key in the next generation runs at the same time.
//   - Contains takes no lock and allocates nothing. Add allocates only to make a new layer. Other adds of new keys wait
//     for the layer.
//   - Keys are forgotten by the clock, also if there is no further Add.
//
// # Age
//
// A key's age counts from the Add that returned true. Later calls of Add return false and do not change the age: a page
// found every minute is still visited once per window. With [Filter.Renew], the age counts from the last call.
//
// If a new key is a false positive, Add does not add it: on average one of 1/p keys. Such a key looks present until the
// older keys are forgotten. Renew always adds the key.
//
// # Clock
//
// These rules also hold for a filter after WriteTo and Read, whatever the clock did in between:
//
//   - A time before the start of the filter counts as its start.
//   - If the clock goes back, nothing more is forgotten until it has caught up. New keys belong to the newest
//     generation that has a key.
//   - If the clock jumps forward by more than a window, all keys are forgotten. If it goes back before a key is added,
//     they are remembered again.
//   - The system's clock is monotonic: setting the time of day has no effect. The time of day counts only between
//     WriteTo and Read; if it is set back, no time has passed.
//
// If messages carry their time, pass [WithClock] a function that returns the latest time seen. A restarted
// program may begin with the zero time.
//
// # Cost
//
// A generation is a small filter that grows, with the rate p/(generations + 1). Its layers depend on n/generations and
// the key counts of the last generations:
//
//   - The first layer has room for the median of these numbers.
//   - With the second layer, the generation has room for the largest of them.
//   - Each later layer adds half of the room so far.
//
// If n was ten times too small, the first generation gets seven layers, the next one two, and later ones mostly one. If
// n is too large, only the first generation is too large. It takes 0.4 times the memory of a plain filter for n keys.
//
// Memory at p = 1 % and 4 generations, as a multiple of a plain filter for the keys of the busiest window:
//
//	1.9  a steady stream; 2.2 for 1,000 keys
//	3.5  the keys of each window come in one burst
//	5    during the first such burst
//
// A lookup of an absent key reads all layers. A lookup of a present key also reads the clock. The garbage collector
// frees forgotten layers.
//
// The layers take at most [bloom.WithMaxBytes], see [WithBloom], or the memory of the machine or its container. A part
// of it is reserved for each generation, for n/generations keys: a burst in another generation does not use this part.
// The filter does not know how much memory other programs use. If running out of memory must not end the process, set
// WithMaxBytes.
//
// # Tests
//
// In a testing/synctest bubble, the time is in the year 2000. A filter from outside forgets nothing there. Make the
// filter inside, or use [WithClock].
package rotating
