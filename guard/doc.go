// Package guard keeps a Bloom filter in front of a store of keys, for the store's
// whole life: a key that the filter knows to be absent never reaches the store.
//
//	g, err := guard.New("users.guard", 10_000_000, 0.01, store)
//	go func() { opened <- g.Open(ctx) }()          // lookups go to the store meanwhile
//
//	user, found, err := guard.Get(ctx, g, key, db.User) // the filter, then the store
//	err = g.Put(func() error { return tx.Commit() }, key) // the filter, then the store
//	position, err := g.Save(ctx)                   // now and then
//
// # Life
//
// A new Guard answers "maybe" to everything. [Guard.Open] makes it ready: from the
// file that [Guard.Save] has written and the keys put since then, or, if there is no
// file, from all keys of the store. [Guard.Rebuild] builds a filter anew, larger, for
// another rate, or without the keys that were deleted, and puts it in the place of the
// old one when it is complete. Lookups and puts go on during all of this. Deleting
// needs no call: lookups of a deleted key go to the store until the next Rebuild.
//
// [Store] is what a Guard needs of the store: its keys, since a position, and the
// position itself: a log sequence number, a block number, any bytes.
//
// # What is promised
//
// A "no" is never false: if [Guard.Contains] returns false, or [Get] does not ask the
// store, then there was a moment during the call at which the key was not in the
// store. So lookups through a Guard are linearizable if those of the store are. This
// holds
//
//   - while any number of goroutines put and delete keys, the same ones too;
//   - before, during and after each Open and Rebuild, also failed and cancelled ones;
//   - after the program or the machine has stopped at any point.
//
// It holds under these conditions:
//
//   - Whatever makes a key visible in the store does so inside [Guard.Put], of one
//     Guard: commits, imports, restores. No other program puts keys into it.
//   - The store does what [Store] says of Keys and Position.
//
// A "maybe" promises nothing. Of the keys that are absent, a ready Guard says it for
// at most p, once n keys are in, and for those that were deleted since the last
// Rebuild.
//
// # Cost
//
// Contains costs what that of [bloom.BloomFilter] costs and one load of a pointer. It
// takes no lock and writes nothing that is shared, so that it scales with the
// processors; a swap never makes a reader wait. Filters are in memory and the garbage
// collector frees the old one when its last reader has left: there is nothing to
// close, and no page fault or damaged file can stop a reader, as it can with a mapped
// file. A snapshot of ten million keys at 1 % has 12 MB and is read in some
// milliseconds. Get counts what it does; it takes a few nanoseconds more. Put adds the
// key and changes one counter twice. Open and Rebuild take the time that the store
// needs to list the keys; while they run there are two filters in memory.
package guard
