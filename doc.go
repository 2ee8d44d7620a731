// Package bloom implements a Bloom filter for concurrent use.
//
// A Bloom filter is a set that stores a few bits per key instead of the keys. It answers "definitely not in the set" or
// "probably in the set". Only the second answer can be wrong. You choose p, the probability of a wrong answer for an
// absent key. A filter takes 9.6 bits per key for p = 1 %, and 4.8 more for each factor of ten. The length of the keys
// does not matter. Keys cannot be listed or removed.
//
//	// Room for ten million URLs. About one new URL in a million is mistaken for a known one.
//	// Strangers choose the URLs, so the hash depends on a secret.
//	seen, err := bloom.New(10_000_000, 1e-6, bloom.WithSecret(secret))
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
//   - The rate holds. With up to n different keys, the expected false-positive rate is
//     at most p, for every built-in strategy, hash and seed, from n = 1 on. The rate of
//     a single filter varies around it. [New] sizes by the exact rate, not by the
//     textbook's approximation.
//   - At most one winner. If several goroutines add the same new key, at most one gets
//     true. Exactly one does, unless the key is a false positive at that moment. Two
//     filters may each have had a winner before their Union.
//   - Add and Contains take no lock and allocate nothing. A key on the caller's stack
//     does not escape to the heap. Functions of [NewHash] and [NewStrategy] get a copy
//     of the key. The copy of a key above 64 KiB is allocated. (On 32-bit MIPS, and
//     on ARM before v7, Go's runtime guards 64-bit atomics with a lock.)
//   - Stable positions, files and sizes. They are the same on every architecture and,
//     from the first tagged release on, in every release.
//   - Bad parameters and damaged bytes are errors that name the value. Decoders
//     allocate memory only as bytes arrive.
//
// # Choosing n and p
//
// n is the largest number of different keys that the filter will ever hold. Beyond n
// keys there are still no false negatives, but the rate rises above p. For p = 1 %, it is
// 6 % after 1.5 n keys and 16 % after 2 n. [Strategy.FalsePositiveRate] computes such rates.
// [BloomFilter.Stats] estimates the current count and rate. If you do not know n, use
// package scalable, or make a large filter and shrink it with [BloomFilter.FoldTo].
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
// k is the number of bits that each key sets. [NewScheme] computes k and m, the number of
// bits, from n and p. [ParamsForBits] computes k, m and p from n and the bits per key.
//
// # Choosing a strategy
//
// A strategy decides which k of the m bits belong to a key. Filters that you unite or
// share must use the same strategy.
//
//   - [DoubleHashing] is the default: the least memory, p down to 2⁻⁶⁴, k cache lines per key.
//   - [Blocked] keeps all bits of a key in one cache line. It is fast in large filters
//     and takes 7 % more memory at p = 1 %, 10 % at 0.1 %.
//   - [SplitBlock] keeps all bits of a key in half a cache line and uses AVX2. It has the fastest
//     lookups and takes 10 % more memory at p = 1 %, 17 % at 0.1 %. It is Parquet's filter.
//   - [SeededHashing] hashes the key k times, as textbooks do. It is for comparisons.
//   - [NewStrategy] makes a custom one. Package bloomtest tests it.
//   - The packages in interop have the strategies of other libraries.
//
// # Choosing a hash
//
//   - [Murmur3] is the default: 128 bits, the same in every process.
//   - [RapidHash] is also the same in every process. It is the fastest for keys of up to
//     100 bytes. Its digest has 64 bits instead of 128.
//   - [MapHash] is safe for keys that strangers choose. It differs from process to process,
//     so its filters cannot be saved.
//   - [WithSecret] hashes with SipHash under a secret. It is safe for keys that
//     strangers choose, and the same in every process that has the secret. It takes
//     about twice the time of Murmur3 (BenchmarkHash).
//   - [NewHash] and [NewHash64] make a custom one.
//
// Anyone can make keys that collide under Murmur3 or RapidHash with every seed, so
// [WithSeed] is no defence.
//
// # Keys
//
// A key is a byte slice or a string of any length. Package typed turns values of other
// types into keys. [Scheme.Digest] hashes a key once for many filters, and
// [Digest64] turns a 64-bit number or hash into a digest for [BloomFilter.AddDigest]. With
// maphash.Comparable, any comparable value can be a key. For many small filters, make one
// [Scheme] and call [Scheme.Filter].
//
// # Costs
//
// In a filter that fits in the cache, SplitBlock with RapidHash has the fastest lookups; [docs/performance.md] has the
// times of several processors and the command. In a larger filter, Add and Contains wait for memory. A key costs k
// cache misses with DoubleHashing, one with Blocked and SplitBlock. If all keys are known before the first lookup, a
// [Builder] fills the filter faster. [BloomFilter.AddMany] and [BloomFilter.ContainsMany] let the cache misses of
// several keys overlap. Union, Clone, Stats and the other methods that visit all bits take O(m).
//
// # Files
//
// [BloomFilter.WriteTo] writes a filter, also while other goroutines add keys. [Read]
// reads and checks it. A filter marshals to binary and text, so encoding/json and
// encoding/gob work. Package persist keeps filters in files. Package view looks up keys
// in filters inside byte slices.
//
// # Concurrency
//
// All methods of [BloomFilter] are safe for concurrent use, except the two that read another
// filter into it: [BloomFilter.UnmarshalBinary] and [BloomFilter.UnmarshalText].
// [BloomFilter.Clear] and [BloomFilter.Intersect] clear bits: keys added at the same time may be
// lost.
//
// To find out whether a key is new, call only Add. Two goroutines that both call Contains
// before Add can both find the key absent.
//
// # When not to use one
//
// Use a map if the keys fit in memory. Check positive answers against the real data if a
// false positive must never happen. Use package counting to remove keys and package
// rotating to forget them after a time.
//
// [docs/performance.md]: https://github.com/seed3447c163/bloom/blob/main/docs/performance.md
package bloom
