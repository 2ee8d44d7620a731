// Package redisfilter keeps a Bloom filter in Redis, where any number of processes and machines share it, with the
// keys, hashes and parameters of package bloom. It runs on Redis 6.2 or later and on Valkey: on a single server, with
// Sentinel, or in a Cluster. It needs Lua scripts, but no module.
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
// n is the number of different keys. [WithGrowth] makes a filter that grows after n keys. [WithGenerations] makes a
// filter for n keys per generation that forgets keys.
//
// # Guarantees
//
//   - One winner. If several processes add the same new key, one gets true, unless the key is a false positive. If a
//     reply was lost, the answer is true with an [AddError], and another process may get true, too.
//   - No false negatives: a key that was added is found, for as long as Redis keeps it. A filter that is gone, replaced
//     or cut short is noticed: see [ErrLost].
//   - The rate is at most p with up to n keys; growing filters and windows keep it for every stream.
//   - All processes that use a filter agree on its parameters, or get [ErrMismatch].
//
// README.md explains how to handle errors, and how to configure the server so that it loses nothing.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. A call returns when its context ends, whatever the client's
// timeouts are. For a context that can end, each call takes a goroutine.
package redisfilter
