// Package rotating is a Bloom filter that forgets: it remembers a key for a window of
// time. It is for crawlers that visit a page again after a week, for dropping messages
// that come twice within the hour, for anything that must not grow for ever.
//
//	// A million URLs a day, a visit a day each, at most 1 % false positives.
//	f, err := rotating.New(1_000_000, 0.01, 24*time.Hour, 4)
//	if err != nil {
//		return err
//	}
//	if f.AddString(url) {
//		fetch(url) // not in the last 24 hours, and no other goroutine gets true
//	}
//
// Time is cut into generations, of which there are as many to a window as one likes.
// A key belongs to the generation in which it was added, and is forgotten with it: one
// window after that generation has ended. So it is remembered for at least the window,
// and for at most one generation longer. More generations forget more exactly, and ask
// more filters for each lookup.
//
// # Guarantees
//
//   - No misses. Contains of a key is true for at least the window after the moment at
//     which Add, returning true, read the clock.
//   - The rate holds. While no more than n different keys come in any one window, spread
//     over it as they like, a key that was not added is answered with true at a rate of at
//     most p. If more come, nothing is lost, but the rate rises above p. A key that is
//     renewed is added again, once in each generation.
//   - One winner. Of any number of goroutines that add the same key, one gets true
//     within the window, also while a generation ends; with the exception of package
//     bloom.
//   - Any window. However short it is, an Add begins one generation at most. Where others
//     are beginning one, it waits for that and at most for the next, which serves all who
//     wait.
//   - Contains takes no lock, waits for nobody and writes nothing. Neither it nor Add
//     allocates anything; memory is made as it is needed, up to a bound, and used again.
//   - Idle time forgets too: the clock decides, not the next Add.
//
// # Age
//
// A key's age counts from the Add that returned true. Further Adds of it return false
// and do not make it younger: a page that is linked every minute is still visited once
// in a window. For the opposite, a window since the key was last seen, there is
// [Filter.Renew].
//
// A new key that Add takes for an old one, which happens at a rate of p, is not added. It
// seems to be there until the old ones are forgotten with which it was mistaken.
// If that matters, use Renew, which adds a key in any case.
//
// # What it costs
//
// With g generations it keeps g+1 of them, each a layer for n/g keys at rate p/(3g),
// and a clean one for the next. At p = 1 % and g = 4, that is 2.3 times the memory of a
// plain filter for n keys. If the keys come in bursts, a generation gets more layers than
// one: at most 3g of them while the promise of n holds, 4g and a clean one at most. A
// lookup of an absent key asks all layers that there are, and reads the clock.
//
// The Add that begins a layer makes a forgotten one clean again, in a time proportional
// to its size (some milliseconds for 10 MB). No other call waits for it, unless the next
// layer begins before it is done. If the system says that there is no memory for a layer, that
// Add panics with an error that wraps [bloom.ErrTooLarge]; the filter is as it was, and the
// next Add tries again. (More often the runtime or the system ends the program then.)
package rotating
