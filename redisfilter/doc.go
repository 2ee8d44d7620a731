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
//	_, err = seen.AddAll(ctx, urls, added)
//	var failed *redisfilter.AddError
//	if errors.As(err, &failed) {
//		for _, i := range failed.Unknown {
//			added[i] = true // a reply was lost: it may be new
//		}
//	}
//	for i, isNew := range added {
//		if isNew {
//			fetch(urls[i]) // no other process got true, unless a reply was lost
//		}
//	}
//	if failed != nil && len(failed.NotAdded)+len(failed.Refused) > 0 {
//		return err // these were not added: ctx has ended, the filter is full, or it is another one
//	}
//
// n is the number of different keys. [WithGrowth] makes a filter that grows after n keys. [WithGenerations] makes a
// filter for n keys per generation that forgets keys.
//
// # Guarantees
//
//   - No silent false negatives. Once Add(x) has returned without error, every later Contains(x) of this handle returns
//     true or an error, which wraps [ErrLost] if x may be lost. Another handle misses x only if the server has lost x
//     and has lost no add of that handle.
//   - At most one winner. If several processes add the same new key, exactly one gets true, or none if the key is a
//     false positive or in [AddError].
//   - The rate is at most p with up to n keys; growing filters and windows keep it for every stream.
//   - All processes that use a filter agree on its parameters, or get [ErrMismatch].
//   - An add is executed at most once, however often it is sent. An add without a reply is sent again for ten seconds.
//     If no reply comes, the error is [ErrUnknown].
//
// README.md explains how to handle each error, and how to configure the server so that it loses nothing.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. A call returns when its context ends, whatever the client's
// timeouts are. For a context that can end, each call takes a goroutine.
package redisfilter
