// Package bloom is a Bloom filter for Go programs that ask "have I seen this
// before?" millions of times a second, from as many goroutines as they like.
//
// A Bloom filter is a set that forgets what its keys were and keeps only a few
// bits of each. Asked for a key, it answers either "definitely not in the set"
// or "probably in the set". It is wrong only in the second answer, at a rate p
// that is chosen in advance, and it needs about 9.6 bits a key for p = 1 % and
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
//     true rate, not by the textbook's approximation of it. (Small filters with the
//     strategies of other libraries exceed a small p, as there: see package interop/guava.)
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
// n is the number of different keys the filter will hold, at most, in its whole life.
// Beyond n it goes on working and never misses, but the rate rises above p: at 1.5 n
// from 1 % to 6 %, at 2 n to 16 %. [BloomFilter.Stats] says how far it is. A guess that
// is too high costs only memory: twice the n, twice the bytes. If no number can be
// named, package scalable grows, or [BloomFilter.FoldTo] shrinks a filter that was made
// large.
//
// Choose p by what a false positive costs. An unnecessary disk read: 1 %. A message that
// goes through a slower check: 0.1 %. A page that a crawler never fetches, a record that
// is dropped: 1e-6 or less. Each factor of ten costs 4.8 bits a key:
//
//	p       bits a key   k    1,000,000 keys
//	3 %            7.3   5            912 kB
//	1 %            9.6   7            1.2 MB
//	0.1 %         14.4   10           1.8 MB
//	1e-4          19.2   13           2.4 MB
//	1e-6          28.8   20           3.6 MB
//
// [ParamsFor] computes it for every n and p without making the filter, and [ParamsForBits]
// says what rate so many bits a key have.
//
// # Choosing a strategy
//
// A strategy says which k of the bits belong to a key.
//
//   - [DoubleHashing], the default, hashes a key once and derives all its positions from
//     that digest: the least memory, every p.
//   - [Blocked] puts them all into one cache line: one cache miss a key in place of k. It is
//     fast, for 7 % more memory at p = 1 % and 10 % at 0.1 %, but expensive below 1e-5.
//   - [SplitBlock] puts them into half a line, where AVX2 makes and tests all at once: the
//     fastest lookups, for 10 % more memory at p = 1 % and 17 % at 0.1 %.
//   - The packages in interop put them where other libraries do, to share filters with
//     them.
//   - [SeededHashing] hashes the key k times, as the textbook has it: the baseline.
//   - [NewStrategy] makes one of your own, and package bloomtest tries it: docs/embedding.md.
//
// Filters that are to be united, or read by others, must have the same one: choose before
// the first file is written.
//
// # Choosing a hash
//
//   - [Murmur3], the default, is the same everywhere and in every release.
//   - [RapidHash], by [WithHash], is that, too, and faster: the fastest for keys of up to 48
//     bytes. It has 64 bits in place of 128.
//   - [MapHash] is about as fast, and safe with keys that an attacker chose, but means
//     nothing outside this process.
//   - SipHash, by [WithKey], is as safe and portable, at about twice the time of Murmur3.
//   - [NewHash] and [NewHash64] make one of your own, and [Digest64] digests of numbers.
//
// Murmur3 and RapidHash are not keyed: an attacker who chooses the keys can make them collide,
// under every seed, and then one added key makes a thousand others "probably there".
// [WithSeed] is no defence; MapHash and SipHash are.
//
// # Keys
//
// A key is bytes, of any number, or a string. Package typed makes keys of numbers, structs and
// whatever else a function can append to a slice. A key that many filters are asked for
// is hashed once, with [BloomFilter.Digest]. Keys that are 64-bit hashes already go
// through [Digest64] to [BloomFilter.AddDigest]. For very many small filters make one
// [Scheme], and of it the filters: [Scheme.Filter].
//
// # Costs
//
// Some ten nanoseconds a key in a filter that the cache holds, most of that for the hash.
// In a larger one the time is that of waiting for memory: k cache misses a key for
// DoubleHashing, which overlap, one for Blocked. [BloomFilter.AddMany] and
// [BloomFilter.ContainsMany] wait for those of many keys at the same time. Memory is that
// of the bits, whatever the keys' length, and is there from the start.
//
// Union, Clone, Clear, Stats and the other methods that look at all bits take O(m),
// and say so: about 0.3 ms a megabyte.
//
// # Files
//
// [BloomFilter.WriteTo] writes a filter to a stream, also while keys are added, and
// [Read] reads it, checking every byte. A filter also marshals itself, so that
// encoding/json and encoding/gob work. docs/format.md describes the bytes. Package
// persist keeps filters in files that survive a crash, or live in one; package view asks
// those that lie in memory as bytes, such as a block of a store's table.
//
// # Concurrency
//
// All methods of [BloomFilter] are safe for concurrent use by multiple
// goroutines, except those that read another filter into it
// ([BloomFilter.ReadFrom], UnmarshalBinary and UnmarshalText). Three of them take bits
// away or may be overtaken by an Add, and say so: [BloomFilter.Clear],
// [BloomFilter.Intersect], and those that look at the whole filter.
//
// To ask first and add then, Contains and then Add, is what other sets need a lock for.
// Here the Add alone is the question: of all that ask for the same new key, one gets true.
//
// # When not to use one
//
// If the keys fit in memory, a map makes no errors. If a false positive must never
// happen, check those answers against the real store. Keys that are to be removed
// one by one need package counting, those that are to be forgotten with time
// package rotating.
package bloom
