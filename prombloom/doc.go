// Package prombloom shows Bloom filters to Prometheus: how full they are, which
// false-positive rate they promise and which they have, and what guards have done.
//
//	watch := prombloom.New(10 * time.Second)
//	watch.Add("users", prombloom.Local(g))    // a guard, or any filter in memory
//	watch.Add("seen", remote)                 // one in Redis
//	prometheus.MustRegister(watch)
//
// All metrics have the label filter, the name that was given to Add.
//
//	bloom_up                             1, or 0 if the filter could not be asked
//	bloom_size_bytes                     memory of the bits
//	bloom_planned_keys                   n
//	bloom_estimated_keys                 keys that are in, by the bits
//	bloom_load_ratio                     bloom_estimated_keys / bloom_planned_keys
//	bloom_fill_ratio                     share of the bits that are set
//	bloom_false_positive_rate_promised   p, at n keys
//	bloom_false_positive_rate_estimated  by the bits
//
// For a [guard.Guard], also what [guard.Guard.Counts] returns:
//
//	bloom_false_positive_rate_observed   since the guard was made
//	bloom_guard_ready                    0 or 1
//	bloom_guard_listed_keys              by the build under way, or the last one
//	bloom_guard_added_keys               to the filter that is asked
//	bloom_guard_lookups_total            with the label result: spared, found, false_positive, not_ready, failed
//
// For a filter in Redis, what its Counts returns, of this process:
//
//	bloom_redis_round_trips_total        waits for the server
//	bloom_redis_keys_total               that the server was asked for or to add
//	bloom_redis_front_hits_total         keys for which it was not
//	bloom_redis_sent_bytes_total         in adds and lookups
//	bloom_redis_losses_total             the filter was gone, or older than what was confirmed
//	bloom_redis_unknown_adds_total       keys of adds without an answer
//
// alerts.yml has rules for the ones that somebody should look at.
package prombloom
