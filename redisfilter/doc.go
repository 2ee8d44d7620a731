// Package redisfilter keeps a Bloom filter in Redis, where any number of processes
// and machines share it: the crawlers of a fleet, the replicas of a service. It
// has the keys, strategies and parameters of package bloom, and runs on any Redis
// from 6.2 on, alone, with Sentinel or as a Cluster, on Valkey, and on the services
// that host them; no module, and Lua only where it is allowed.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	f, err := redisfilter.Open(ctx, client, "seen", 10_000_000, 1e-6)
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(ctx, url)
//	switch {
//	case err != nil:
//		return err // see "When an add fails"
//	case added:
//		fetch(url) // definitely new, and no other process was told so
//	}
//
// # Guarantees
//
//   - No misses while the server remembers. Once Add(x) has returned without error,
//     every later Contains(x), of any process, is true or an error that wraps
//     [ErrLost]; but see "What can be forgotten".
//   - One winner. Of any number of processes that add the same new key at the
//     same time, exactly one gets true.
//   - The rate is at most p after n keys.
//   - All processes that use a filter agree on its parameters, or get [ErrMismatch].
//   - An add is sent at most once. Clients repeat a command whose reply was lost; an
//     add that is repeated finds its own bits, and no process is told that the key is
//     new.
//
// # What it costs
//
// Add and Contains are one round trip, AddMany and ContainsMany one for each 500
// keys: a single BITFIELD, or a script that adds a batch where the server allows it. The
// README has the times. Keys that this process knows to be there are answered without
// asking, see [WithFront]. Under load, single calls of several goroutines go together in
// one command.
//
// # When an add fails
//
// If the reply to an add is lost (the connection broke, the context ended), the
// key may be in the filter or not, and no process was told that it is new. A program
// that adds it again, and trusts a false, loses it. The error then wraps [ErrUnknown],
// and [AddError] lists the keys. A crawler fetches such a page, at the risk
// of fetching it twice; a mailer that must not send twice drops it. An error
// that does not wrap ErrUnknown leaves the keys out of the filter: they can be added
// again.
//
// # What can be forgotten
//
// A filter in Redis never invents keys beyond its rate, but it can forget some or
// all of them. When the key in Redis is gone (evicted, expired, flushed, deleted, or
// not saved when the server ended), the next call that asks the server returns
// [ErrLost], and [Filter.Reopen] goes on with an empty one. When the server has gone
// back to an older value (a failover to a replica that lagged behind, a restart from a
// snapshot or an append-only file that lacked the latest adds), each Filter that has
// lost an add is told so by its next call, also by ErrLost. What cannot be noticed is such a
// loss of others' adds by a Filter that has lost none: it has only asked, or added
// nothing since. The README says how to configure the server.
//
// # Other filters in Redis
//
// Package growing grows as keys come, package window forgets what is older than a window of
// time, package bitmap shares the plain bitmaps of other services and libraries, package
// module uses the RedisBloom module, and [NewLocal] is a filter in this process. All of them
// are a [Set], so that a program can choose by configuration.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use by multiple goroutines. The
// context of a call ends its wait, whatever the client's time limits are. With a
// client that has ContextTimeoutEnabled, a deadline costs nothing, but a call whose context
// has one and is cancelled before goes on until that deadline or the client's time limits;
// otherwise, and for a context that can be cancelled but has no deadline, a call costs a
// goroutine.
package redisfilter
