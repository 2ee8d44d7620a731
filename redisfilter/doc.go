// Package redisfilter keeps a Bloom filter in Redis, where any number of processes and machines share
// it. It has the keys, strategies and parameters of package bloom, and runs on Redis 6.2 or later and on
// Valkey, alone, with Sentinel or as a Cluster. It needs Lua scripts and no module.
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
//		fetch(url) // definitely new, and no other process was told so
//	}
//
// [WithGrowth] makes a filter that grows, [WithWindow] one that forgets.
//
// # Guarantees
//
//   - No silent misses. Once Add(x) has returned without error, every later Contains(x) of any process
//     is true or an error that wraps [ErrLost].
//   - One winner. Of any number of processes that add the same new key, exactly one gets true.
//   - The rate is at most p after n keys.
//   - All processes that use a filter agree on its parameters, or get [ErrMismatch].
//   - An add is sent at most once. A lost reply is [ErrUnknown].
//
// A handle that has not added, or has lost none of its adds, does not notice that the server has forgotten
// the adds of others. The README says how to configure the server.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. The context of a call ends its wait, whatever the
// client's time limits are. With a client that has ContextTimeoutEnabled, a deadline costs nothing, but a
// call whose context is cancelled before its deadline goes on until then. Otherwise, and for a context that
// can only be cancelled, a call costs a goroutine.
package redisfilter
