package rotating

import "github.com/seed3447c163/bloom/internal/digest"

// Contains returns false if the key was definitely not added in the last window, true if
// it probably was, in that window or up to a generation earlier.
func (f *Filter) Contains(key []byte) bool { return f.ContainsDigest(f.scheme.Digest(key)) }

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool {
	return f.ContainsDigest(f.scheme.Digest(digest.Bytes(key)))
}

// ContainsDigest is [Filter.Contains] for a key whose digest is already known.
func (f *Filter) ContainsDigest(h1, h2 uint64) bool {
	now := f.live.Load()
	oldest := f.oldest(now)
	if now.youngest(h1, h2, oldest, 0) >= 0 {
		return true
	}
	return f.live.Load() != now && f.follow(h1, h2, oldest)
}

// oldest reads the clock and returns the oldest generation that is remembered.
func (f *Filter) oldest(now *live) int64 {
	return now.generation(f.time.generation()) - int64(f.plan.generations)
}

// How a lookup finds a key that is renewed while it looks
//
// Most lookups ask the newest layers first, where the key most likely is. But Renew may add
// the key to a newer layer, which was asked already, and then the layer that had it may be
// forgotten and cleared, before it is asked. So if a key is not found, and layers have come
// meanwhile, all are asked again, the oldest first: in the order in which keys move.
//
// Let the key be there all the time. When the layer is asked that had it at the beginning, it
// is there, or the layer has been forgotten before, and by then the key was in a newer one.
// That one is asked later, of which the same is true, and so on: to the newest, or to those
// that were added meanwhile, which are asked too. There is no other end than that none is newer
// than those that were asked, so that a lookup waits for nobody.
//
// TestContainsInSteps tries it in every order.

// follow asks all layers from the oldest generation on, the oldest first.
func (f *Filter) follow(h1, h2 uint64, oldest int64) bool {
	for next := uint64(0); ; { // those with smaller serial numbers have been asked
		now := f.live.Load()
		for i := range *now {
			if e := &(*now)[i]; e.serial >= next && e.generation >= oldest && e.ContainsDigest(h1, h2) {
				return true
			}
		}
		if now.newest().serial < next {
			return false
		}
		next = now.newest().serial + 1
	}
}

// Hash returns the 128-bit digest of a key, to hash once and ask many filters.
func (f *Filter) Digest(key []byte) (h1, h2 uint64) { return f.scheme.Digest(key) }

// DigestString is [Filter.Hash] for a string, without copying it.
func (f *Filter) DigestString(key string) (h1, h2 uint64) { return f.scheme.Digest(digest.Bytes(key)) }
