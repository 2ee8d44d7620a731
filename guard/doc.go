// Package guard keeps a Bloom filter in front of a store of keys: most lookups of absent keys do not reach the store.
// The filter follows the store through restarts, growth and deletes.
//
//	g, err := guard.New("users.guard", 10_000_000, 0.01, store)
//	go g.Keep(ctx, time.Minute, report) // opens it, saves it every minute, and lets it grow
//
//	user, found, err := guard.Get(ctx, g, key, db.User)   // the filter, then the store
//	err = g.Put(func() error { return tx.Commit() }, key) // the filter, then the store
//
// # Conditions
//
// A "no" is never wrong: if [Guard.Contains] returns false, or [Get] does not ask the store, then at some moment of the
// call the key was not in the store. So lookups through a Guard are linearizable if lookups in the store are. This
// holds
//
//   - while any number of goroutines put and delete keys;
//   - before, during and after each Open and Rebuild, including failed and cancelled ones;
//   - after the program or the machine has stopped at any point.
//
// It holds under five conditions:
//
//   - Every write that makes a key visible in the store runs inside [Guard.Put] of one Guard. Imports, migrations and
//     restores are such writes. Other processes may only delete keys. [docs/guard.md] has solutions for several
//     instances of a program.
//   - The store's methods Keys and Position do what [Store] says.
//   - A commit that was under way when the process ended is visible before the next Open, or never becomes visible.
//   - The store finds a key by the same bytes only. A database that ignores case or trailing spaces finds "Ada" if
//     "ada" is stored; the filter does not.
//   - The store undoes no change that was visible. A crash that loses commits, a failover to a replica that lagged, and
//     a restored backup undo changes. After one of them, call [Guard.Rebuild]: deleted keys may be back, and the filter
//     may not have them.
//
// A "maybe" promises nothing. A ready Guard says "maybe" for every key deleted since the last build. For other absent
// keys, it does so at a rate of at most p while the filter has at most n keys.
//
// # Cost
//
// Contains costs one pointer load more than the Contains of [bloom.BloomFilter]. It takes no lock and writes no shared
// memory. Get also counts its result. Put adds the keys and changes one counter twice. During a build there are two
// filters in memory. A Guard need not be closed.
//
// [docs/guard.md]: https://github.com/seed3447c163/bloom/blob/main/docs/guard.md
package guard
