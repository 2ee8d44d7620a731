// Package window keeps a Bloom filter in Redis that remembers each key for a window of time:
// which keys has any process of a fleet seen in the last hour? It is to a
// [redisfilter.Filter] what package rotating is to a filter in the process.
//
//	f, err := window.Open(ctx, client, "mailed", 1_000_000, 1e-3, 24*time.Hour, 4)
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(ctx, address)
//
// # Guarantees
//
//   - No misses while the server remembers. For at least the window after Add(x) has returned
//     true, by the server's clock, every Contains(x) of any process is true or an error; and
//     for at most one generation more, the window divided by generations.
//   - One winner a window. Of all processes that add the same key, one gets true, and the next
//     one when the key is forgotten. An add of a key that is remembered does not renew it.
//   - The rate is at most p while no generation gets more than n divided by generations keys.
//     See [Open] for bursts.
//   - A lost reply is asked for again, and the server gives the same answer. Only when that
//     fails, too, is the error [redisfilter.ErrUnknown].
//   - A filter that is gone, another one, cut short, or older than what was confirmed to this
//     handle is [redisfilter.ErrLost].
//
// There is no background job, and no key expires: an add finds with the server's clock which
// generations have ended, and clears those of the one block that it writes to.
//
// # Clocks
//
// The clock is that of the Redis server that holds the key, read in the same script. When it
// goes back, by less than a window, the filter forgets nothing until the clock has caught up.
// When it goes back by more, because it was far ahead, time goes on from where it was: keys
// are remembered for a window and what is left of a generation. A clock that jumps ahead
// ends the generations that it jumps over: keys are forgotten too early, by as much as it
// jumps.
//
// # Needs
//
// Redis 6.2 or later or Valkey, with EVAL and EVALSHA allowed. The filter is one key, and
// so in one slot of a cluster: at most 512 MiB.
package window
