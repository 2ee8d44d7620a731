// Package redisfilter keeps a Bloom filter in Redis. Any number of processes and machines share the filter. Keys,
// hashes and parameters are as in package bloom. The package runs on Redis 6.2 or later and on Valkey: on a single
// server, with Sentinel, or in a Cluster. It uses Lua scripts, and needs no module.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	seen, err := redisfilter.Open(ctx, client, "seen", 10_000_000, 1e-6)
//	if err != nil {
//		return err
//	}
//	added := make([]bool, len(urls))
//	_, err = seen.AddMany(ctx, urls, added)
//	for i, isNew := range added {
//		if isNew {
//			fetch(urls[i]) // no other process got true, unless a reply was lost
//		}
//	}
//	return err // call again with the same urls
//
// n is the number of different keys. With [WithGrowth], the filter grows after n keys. With [WithGenerations], it
// forgets keys, and n is the number of keys per generation. [Join] opens a filter that exists, without n and p.
//
// # Guarantees
//
//   - One winner. If several processes add the same new key, one gets true, unless the key is a false positive. If a
//     reply was lost, the answer is true with an [AddError], and another process may get true, too.
//   - No false negatives. All processes find an added key, for as long as Redis keeps it and, with [WithGenerations],
//     until its window has passed. If the filter is gone, replaced or truncated, calls return [ErrLost].
//   - The rate is at most p for up to n keys, and for any number of keys with [WithGrowth] or [WithGenerations].
//   - Same parameters. If the name holds a filter with other parameters, or something else, Open returns [ErrMismatch]
//     and changes nothing.
//
// README.md says what to do after an error, and how to configure the server so that it loses nothing.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. A call returns when its context ends, whatever the client's
// timeouts are. If the context can end, the call starts a goroutine.
package redisfilter
