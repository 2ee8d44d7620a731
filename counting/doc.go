// Package counting implements a Bloom filter from which keys can be removed: it has a counter of 4 bits for
// each bit of a plain filter.
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
// Every Add counts, even if it returns false: a key that was added twice must be removed twice. A program that reserves
// a key, and gives it back if its work fails, also calls Remove after an Add that returned false. Remove only keys that
// were added, and only after their Add has returned. Removing an absent key is harmless if the filter knows that it is
// absent: Remove returns false and changes nothing. If the key is a false positive, Remove decrements counters of other
// keys, and these may become false negatives. No counting filter can tell a false positive from a key that was added.
//
// # Guarantees
//
//   - No false negatives. A key that was added more often than it was removed is found.
//   - The rate holds. While at most n different keys are present, an absent key is found at a rate
//     of at most p, no matter which keys were present before, except for full counters.
//   - Counters do not wrap. A counter that has reached 15 is full and stays at 15, so no key goes
//     missing. If n keys are added once each, one counter in 10^15 is full. A key that is added 15
//     times cannot be removed.
//   - At most one winner. If several goroutines add the same new key, at most one gets true. Exactly
//     one does, unless a key that shares a counter with it is added or removed at that moment. A
//     second call gets true only after a Remove of the key has begun.
//   - Add, Remove and Contains take no lock, and allocate nothing up to k = 64.
//
// # Cost
//
// Counters take 4 times the memory of bits. A Remove costs as much as an Add. If all keys are
// forgotten after the same time, package rotating takes less memory.
package counting
