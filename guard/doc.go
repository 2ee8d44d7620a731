// Package guard keeps a Bloom filter in front of a store of keys: a lookup of an absent key does not
// reach the store. It covers the store's whole life: building, saving, restarts, growth and deletes.
//
//	g, err := guard.New("users.guard", 10_000_000, 0.01, store)
//	go g.Keep(ctx, time.Minute, report) // opens it, saves it every minute, and lets it grow
//
//	user, found, err := guard.Get(ctx, g, key, db.User)   // the filter, then the store
//	err = g.Put(func() error { return tx.Commit() }, key) // the filter, then the store
//
// # Conditions
//
// A "no" is never false: if [Guard.Contains] returns false, or [Get] does not ask the store, then
// at some moment of the call the key was not in the store. So lookups through a Guard are
// linearizable if lookups in the store are. This holds
//
//   - while any number of goroutines put and delete keys;
//   - before, during and after each Open and Rebuild, including failed and cancelled ones;
//   - after the program or the machine has stopped at any point.
//
// It holds under three conditions:
//
//   - Every write that makes a key visible in the store runs inside [Guard.Put] of one Guard:
//     commits, imports, restores. No other process or service instance writes keys. docs/guard.md
//     shows what several instances can do.
//   - The store does what [Store] says of Keys and Position.
//   - A write whose process has ended becomes visible before the next Open, or never.
//
// A "maybe" promises nothing. A ready Guard says it for a share of at most p of the absent keys
// while at most n keys are in the filter, and for keys deleted since the last Rebuild.
//
// # Cost
//
// Contains costs one pointer load more than that of [bloom.BloomFilter]. It takes no lock and
// writes nothing that is shared. Get also counts, which takes a few nanoseconds. Put adds the keys
// and changes one counter twice. Filters are in memory: there is nothing to close. During a build
// there are two filters.
package guard
