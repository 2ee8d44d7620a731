// Package redisfilter keeps a Bloom filter in Redis, where any number of processes and machines share
// it. It has the keys, hashes and parameters of package bloom. It runs on Redis 6.2 or later and on
// Valkey: a single server, with Sentinel, or a Cluster. It needs Lua scripts and no module.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	f, err := redisfilter.Open(ctx, client, "seen", 10_000_000, 1e-6)
//	if err != nil {
//		return err
//	}
//	added, err := f.Add(ctx, url)
//	switch {
//	case err != nil:
//		return err // see AddError
//	case added:
//		fetch(url) // definitely new, and no other process got true
//	}
//
// [WithGrowth] makes a filter that grows, [WithGenerations] a filter that forgets keys.
//
// # Guarantees
//
//   - No silent false negatives. Once Add(x) has returned without error, every later Contains(x) of any
//     process returns true or an error that wraps [ErrLost].
//   - At most one winner. If several processes add the same new key, exactly one gets true, or none if
//     the key is a false positive or the reply is lost.
//   - The rate is at most p with up to n keys; growing filters and windows keep it for every stream.
//   - All processes that use a filter agree on its parameters, or get [ErrMismatch].
//   - An add is executed at most once, however often it is sent. If no reply comes, the error is [ErrUnknown].
//
// A [Filter] notices lost adds only if its own adds are among them. README.md says how to configure the
// server so that it loses none.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. A call returns when its context ends, whatever the
// client's time limits are. If the context can end, this takes a goroutine per call.
package redisfilter
