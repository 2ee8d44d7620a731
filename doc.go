// Package bloom is a Bloom filter for Go programs that ask "have I seen this
// before?" millions of times a second, from as many goroutines as they like.
//
// A Bloom filter is a set that forgets what its keys were and keeps only a few
// bits of each. Asked for a key, it answers either "definitely not in the set"
// or "probably in the set". It is wrong only in the second answer, at a rate p
// that is chosen beforehand, and it needs about 9.6 bits a key for p = 1 % and
// 4.8 more for every further factor of ten, however long the keys are. Keys
// cannot be listed and cannot be removed.
//
//	f, err := bloom.New(1_000_000, 0.01) // a million keys, at most 1 % false positives
//	if err != nil {
//		return err
//	}
//	if f.AddString(url) {
//		fetch(url) // definitely new, and no other goroutine was told so
//	}
//
// # Guarantees
//
//   - No misses. Once Add(x) has returned, every later Contains(x) is true, in
//     every goroutine, also after Union and in every snapshot and copy.
//   - The rate holds. After n different keys, a key that was never added is
//     answered with true at a rate of at most p. [New] sizes the filter by the
//     true rate, not by the textbook's approximation of it.
//   - One winner. Of any number of goroutines that add the same new key at the
//     same time, exactly one gets true. (The exception: if adding another key
//     happens to set this key's last missing bit in those nanoseconds, nobody
//     gets true, which is an ordinary false positive.)
//   - No locks and no allocation in Add and Contains; a key in a caller's stack
//     buffer stays there. (On 32-bit MIPS, and on ARM before v7, the runtime
//     itself guards 64-bit atomics with a spin lock.)
//   - Frozen positions. A named strategy puts a key's bits in the same places in
//     every release and on every architecture.
//   - Frozen files. Bytes that one release writes on one architecture are read by
//     every later one on every other.
//   - Bad parameters and damaged bytes are errors that name the value; nothing is
//     clamped, and no header makes a reader ask for memory before the bytes come.
//
// # Choosing n and p
//
// n is the number of different keys the filter will hold. Beyond n it goes on
// working and never misses, but the rate rises above p:
// [BloomFilter.EstimatedFalsePositiveRate] says how far. Choose p by what a
// false positive costs: a disk read that was not needed bears 1 %, a page that
// a crawler never fetches wants 1e-6.
//
// # Choosing a strategy
//
// [DoubleHashing], the default, hashes a key once and derives all its positions
// from that digest: the least memory. [Blocked] puts them all into one cache line:
// one cache miss a key, for 7 % more memory at p = 1 %, the fastest, but dear below
// 1e-5. [SeededHashing] hashes the key k times, as the textbook has it, and serves
// as the baseline. [NewStrategy] makes one from a function of your own.
//
// # Choosing a hash
//
// [Murmur3], the default, is the same everywhere. [MapHash] is faster, and safe
// with keys that an attacker chose, but only inside one process. [WithKey] is as
// safe and portable, at twice the time.
//
// # Batches
//
// In a filter larger than the cache, a key costs a cache miss.
// [BloomFilter.AddMany] and [BloomFilter.ContainsMany] wait for those of many keys
// at the same time.
//
// # Files
//
// [BloomFilter.WriteTo] writes a filter to a stream, also while keys are added, and
// [Read] reads it, checking every byte. A filter also marshals itself, so that
// encoding/json and encoding/gob work. docs/format.md describes the bytes.
//
// # Concurrency
//
// All methods of [BloomFilter] are safe for concurrent use by multiple
// goroutines, except those that read another filter into it
// ([BloomFilter.ReadFrom], UnmarshalBinary and UnmarshalText). Three of them take bits away or may be overtaken by an Add, and
// say so: [BloomFilter.Clear], [BloomFilter.Intersect], and those that look at
// the whole filter.
//
// # Hostile keys
//
// Murmur3 is not a keyed hash: whoever chooses the keys can choose them so that
// they collide, under every seed, and then one added key makes a thousand others
// "probably there". [WithSeed] is no defence; [MapHash] and [WithKey] are.
package bloom
