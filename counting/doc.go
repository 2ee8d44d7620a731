// Package counting is a Bloom filter from which keys can be removed: it has a small
// counter where a plain one has a bit.
//
//	f, err := counting.New(1_000_000, 0.01)
//	if err != nil {
//		return err
//	}
//	f.AddString(session)
//	…
//	f.RemoveString(session)
//
// # Each Remove belongs to an Add
//
// Every Add counts, also that of a key that is there already: a key that was added
// twice is there until it has been removed twice. Remove only what was added, and not
// before its Add has returned. To remove a key that was never added is harmless if the
// filter knows that it is not there: Remove then returns false and changes nothing. But
// for keys that were never added it takes such a key for another at the rate p, as
// Contains does, and then Remove takes counts away that belong to other keys: one or
// more of those may from then on be missing, although they were added. No counting filter
// can tell.
//
// # Guarantees
//
//   - No misses. A key that was added more often than it was removed is there.
//   - The rate holds. While at most n different keys are there, one that is not is
//     answered with true at a rate of at most p, whatever was there before, but for
//     counters that are full.
//   - Counters do not wrap. One that has reached 15 stays there: it can no
//     longer say how often it was counted, so it never goes back, and no key goes
//     missing for it. In a filter of n keys that are added once, that happens to a
//     counter in 10^15. A key that is added 15 times and more cannot be removed.
//   - One winner. Of any number of goroutines that add the same new key at the same time,
//     at most one gets true, and exactly one if no other key is added or removed in those
//     nanoseconds that has a counter with it in common. A second one gets true only
//     after a Remove of that key has begun.
//   - No locks in Add, Remove and Contains, and no allocation up to k = 64.
//
// # What it costs
//
// Counters of 4 bits are 4 times the memory of bits. A Remove costs what an Add costs. If
// keys are only added and all forgotten after a time, package rotating needs less.
package counting
