// Package prombloom exports metrics of Bloom filters to Prometheus: their fill, their promised and estimated
// false-positive rates, and the counters of guards.
//
//	watch := prombloom.New(10 * time.Second)
//	watch.Add("users", prombloom.Local(g))    // a guard, or any filter in memory
//	watch.Add("seen", remote)                 // a filter in Redis
//	prometheus.MustRegister(watch)
//
// All metrics have the label filter, the name passed to Add.
//
//	bloom_up                             1, or 0 if the filter does not answer
//	bloom_size_bytes                     memory of the bits
//	bloom_planned_keys                   n; if the filter grows or forgets, the keys that its layers are for
//	bloom_estimated_keys                 number of keys, estimated from the bits
//	bloom_load_ratio                     bloom_estimated_keys / bloom_planned_keys
//	bloom_fill_ratio                     share of set bits
//	bloom_false_positive_rate_promised   p
//	bloom_false_positive_rate_estimated  rate, computed from the bits
//	bloom_over_p                         1 if too many keys have raised the rate above p, see bloom.Stats.OverP
//
// For a guard.Guard, also the numbers of its Metrics:
//
//	bloom_false_positive_rate_observed   rate since the guard was made
//	bloom_guard_ready                    0 or 1
//	bloom_guard_listed_keys              keys listed by the current or last build
//	bloom_guard_added_keys               new keys added to the current filter
//	bloom_guard_lookups_total            with the label result: spared, found, false_positive, not_ready, failed
//
// For a filter in Redis, also the numbers of its Metrics, for this handle:
//
//	bloom_redis_round_trips_total        round trips to the server
//	bloom_redis_keys_total               keys sent to the server, to add or to look up
//	bloom_redis_cache_hits_total         keys answered without the server
//	bloom_redis_losses_total             losses noticed: the filter or a shard was gone, replaced or cut short
//	bloom_redis_unsure_adds_total        keys that an add answered with true although others may win them, too
//
// alerts.yml has alerting rules for Prometheus.
package prombloom
