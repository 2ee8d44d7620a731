// Package bloom implements a Bloom filter for concurrent use.
//
// A Bloom filter is a set that keeps a few bits per key instead of the keys. It
// answers "definitely not in the set" or "probably in the set". Only the second
// answer can be wrong. You choose p, the share of absent keys for which it is wrong.
// A filter takes 9.6 bits per key for p = 1 % and 4.8 more for each factor of ten,
// however long the keys are. Keys cannot be listed or removed.
//
//	// Ten million URLs. One new URL in a million is taken for a known one.
//	seen, err := bloom.New(10_000_000, 1e-6, bloom.WithHash(bloom.MapHash))
//	if err != nil {
//		return err
//	}
//	if seen.AddString(url) {
//		fetch(url) // the URL is new, and no other goroutine got true for it
//	}
//
// # Guarantees
//
//   - No false negatives. Once Add(x) has returned, every later Contains(x) is true,
//     in every goroutine, after Union, and in every copy and snapshot.
//   - The rate holds. After n different keys, the false-positive rate is at most p.
//     [New] sizes by the true rate, not by the textbook's approximation.
//   - At most one winner. Of all goroutines that add the same new key, at most one
//     gets true. Exactly one does, unless the key is a false positive at that moment.
//   - Add and Contains take no lock and allocate nothing. A key on the caller's stack
//     stays there. (On 32-bit MIPS, and on ARM before v7, Go's runtime guards 64-bit
//     atomics with a lock.)
//   - Stable positions, files and sizes. They are the same on every architecture and,
//     from the first tagged release on, in every release.
//   - Bad parameters and damaged bytes are errors that name the value. No forged
//     header causes an allocation.
//
// # Choosing n and p
//
// n is the largest number of different keys that the filter will ever hold. Beyond n
// it still has no false negatives, but the rate rises above p: at 1.5 n from 1 % to
// 6 %, at 2 n to 16 %. [BloomFilter.Stats] estimates the current count and rate. If you
// cannot name n, package scalable grows, and [BloomFilter.FoldTo] shrinks a filter that
// was made too large.
//
// Choose p by the cost of a false positive: 1 % for an unnecessary disk read, 1e-6 or
// less for a page that is never fetched or a record that is dropped.
//
//	p       bits per key   k    1,000,000 keys
//	3 %              7.3   5           891 KiB
//	1 %              9.6   7           1.1 MiB
//	0.1 %           14.4   10          1.7 MiB
//	1e-4            19.2   13          2.3 MiB
//	1e-6            28.8   20          3.4 MiB
//
// [ParamsFor] computes m and k for every n and p. [ParamsForBits] starts from bits per
// key instead.
//
// # Choosing a strategy
//
// A strategy decides which k of the m bits belong to a key. Filters that are united or
// shared must use the same one.
//
//   - [DoubleHashing] is the default: the least memory, any p, k cache lines per key.
//   - [Blocked] keeps all bits of a key in one cache line. It is fast in large filters
//     and takes 7 % more memory at p = 1 %, 10 % at 0.1 %.
//   - [SplitBlock] uses half a cache line and AVX2: the fastest lookups, for 10 % more
//     memory at p = 1 % and 17 % at 0.1 %. It is Parquet's filter.
//   - [SeededHashing] hashes the key k times, as the textbook does. It is a baseline.
//   - [NewStrategy] makes a custom one. Package bloomtest tests it.
//   - The packages in interop have the strategies of other libraries.
//
// # Choosing a hash
//
//   - [Murmur3] is the default: 128 bits, the same in every process.
//   - [RapidHash] is the same in every process too, and the fastest for keys of up to
//     48 bytes. Its digest has 64 bits instead of 128.
//   - [MapHash] is safe for keys that strangers choose. Its digests mean nothing outside
//     the process.
//   - [WithKey] hashes with SipHash under a secret key. It is safe for keys that
//     strangers choose, and the same in every process that has the key. It takes about
//     twice the time of Murmur3.
//   - [NewHash] and [NewHash64] make a custom one.
//
// Keys that collide under Murmur3 and RapidHash are easy to make, under every seed.
// [WithSeed] is no defence against strangers.
//
// # Keys
//
// A key is a byte slice or a string of any length. Package typed turns values of other
// types into keys. [BloomFilter.Digest] hashes a key once for many filters, and
// [Digest64] turns a 64-bit number or hash into a digest for [BloomFilter.AddDigest].
// For many small filters make one [Scheme] and call [Scheme.Filter].
//
// # Costs
//
// Add and Contains take about ten nanoseconds in a filter that fits in the cache, most
// of it for the hash. In a larger filter they wait for memory: k cache misses per key for
// DoubleHashing, which overlap, and one for Blocked and SplitBlock.
// [BloomFilter.AddMany] and [BloomFilter.ContainsMany] overlap the misses of many keys.
// Union, Clone, Stats and the other methods that visit all bits take O(m).
//
// # Files
//
// [BloomFilter.WriteTo] writes a filter, also while keys are added. [Read] reads and
// checks it. A filter marshals to binary and text, so that encoding/json and
// encoding/gob work. Package persist keeps filters in files; package view queries them
// in bytes.
//
// # Concurrency
//
// All methods of [BloomFilter] are safe for concurrent use, except the three that read
// another filter into it: [BloomFilter.ReadFrom], [BloomFilter.UnmarshalBinary] and
// [BloomFilter.UnmarshalText]. [BloomFilter.Clear] and [BloomFilter.Intersect] remove
// bits; adds that run at the same time may be lost.
//
// Do not call Contains and then Add to find out whether a key is new: Add answers that
// by itself, and only Add has one winner.
//
// # When not to use one
//
// Use a map if the keys fit in memory. Check positive answers against the real data if a
// false positive must never happen. Use package counting to remove keys and package
// rotating to forget them after a time.
package bloom
