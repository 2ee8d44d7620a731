package guard

// Metrics returns counters since the Guard was made, in constant time, for package prombloom and for logs:
//
//   - ready: 1 if there is a filter, else 0
//   - listed_keys: keys listed by the build under way, or by the last one
//   - added_keys: new keys added to the filter. The filter is full when they are more than the N of [Guard.Stats]. New
//     keys that are false positives are not counted. Keys deleted since the last build still count.
//   - the results of [Get]: spared (the filter said "no"), found (the store had the key), false_positives
//     (the filter said "maybe", and the store did not have the key), not_ready (the store was asked
//     because there was no filter) and failed (the store returned an error)
//   - false_positive_rate: the observed rate, false_positives / (false_positives + spared), 0 if both
//     are 0. Keys deleted since the last build count.
//
// spared is exact up to 32,768. Then, on average, one call in 256 adds 256, so that lookups rarely write to shared
// memory. The standard error at x calls is 16·√x: 1.6 % at a million and 0.2 % at a hundred million.
func (g *Guard) Metrics() map[string]float64 {
	s, spared, wrong := g.getState(), float64(g.spared.count.Load()), float64(g.falsePositives.Load())
	m := map[string]float64{
		"ready": 0, "listed_keys": float64(g.scanned.Load()), "added_keys": 0,
		"spared": spared, "found": float64(g.found.Load()), "false_positives": wrong,
		"not_ready": float64(g.notReady.Load()), "failed": float64(g.failed.Load()), "false_positive_rate": 0,
	}
	if s.current != nil {
		m["ready"], m["added_keys"] = 1, float64(s.current.keys.Load())
	}
	if wrong > 0 {
		m["false_positive_rate"] = wrong / (wrong + spared)
	}
	return m
}
