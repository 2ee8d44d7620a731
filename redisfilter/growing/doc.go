// Package growing keeps a Bloom filter in Redis that grows: for a fleet of processes that does
// not know how many keys will come. It is to a [redisfilter.Filter] what package scalable is to
// a filter in the process.
//
//	f, err := growing.Open(ctx, client, "seen", 1_000_000, 0.01) // grows past a million, keeps 1 %
//	if err != nil {
//		return err
//	}
//	added, err := f.AddString(ctx, url)
//
// It begins as a filter for n keys. When these are in, the add of the next new key opens a
// larger layer, which takes the keys from then on, and so on: each layer is for twice as many
// keys as the one before, and has a tighter rate, so that all of them together stay at most p.
//
// # Guarantees
//
//   - No misses while the server remembers. Once Add(x) has returned without error, every later
//     Contains(x) of any process is true or an error.
//   - One winner. Of all processes that add the same new key at the same time, exactly one gets
//     true, also while a layer is opened.
//   - The rate is at most p, however many keys come: no layer takes more keys than it is for.
//   - An add is sent at most once. If its reply is lost, the error wraps [redisfilter.ErrUnknown].
//   - A filter that is gone, another one, cut short, or older than what was confirmed to this
//     handle is [redisfilter.ErrLost].
//
// All of a filter is one value of one key, and an add is one script on it, which finds the
// newest layer, opens the next one where it must, looks in all layers and adds. A process
// that ends at any moment leaves nothing half done, and there is nothing to be agreed on.
//
// # What it costs
//
// Adds and lookups read all layers: with n guessed right there is one, at rate p/2; with n ten
// times too small there are four. If n is known within a factor of two, a [redisfilter.Filter]
// with the larger n is smaller and faster. To open a layer holds the server up for one to three
// milliseconds for each MiB of the whole value, as Redis may have to copy it.
//
// # Needs
//
// Redis 6.2 or later or Valkey, with EVAL and EVALSHA allowed. Where they are not, Open makes
// nothing and adds are refused, by an error that names them; Join and lookups need
// no script. The filter is one key, and so in one slot of a cluster: at most 512 MiB, which at 1 %
// are 100 to 300 million keys. Then, or at [bloom.WithMaxBytes], new keys are refused by [redisfilter.ErrFull].
package growing
