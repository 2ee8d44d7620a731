package guard

// Counts is what a Guard has done since it was made.
type Counts struct {
	Scanned uint64 // keys listed by the build under way, or by the last one

	N    uint64 // keys that the filter is for
	Keys uint64 // new keys added to the filter; it is full when they are more than N

	// The results of Get.
	Spared         uint64 // the filter said "no"; sampled from about ten thousand on
	Found          uint64 // the store had the key
	FalsePositives uint64 // the filter said "maybe", and the store did not have the key
	NotReady       uint64 // the store was asked because there was no filter
	Failed         uint64 // the store returned an error
}

// FalsePositiveRate returns the observed rate: the share of lookups of absent keys that reached
// the store, FalsePositives / (FalsePositives + Spared), and 0 if there were none. Keys deleted
// since the last build count. For the rate of some minutes, subtract the two numbers of an
// earlier Counts.
func (c Counts) FalsePositiveRate() float64 {
	if c.FalsePositives == 0 {
		return 0
	}
	return float64(c.FalsePositives) / (float64(c.FalsePositives) + float64(c.Spared))
}

// Counts returns the counts, in constant time.
//
// Spared is exact up to some ten thousand. From there on one call in 256 counts for 256, so
// that lookups rarely write to shared memory. The standard error at x calls is 16·√x: 1.6 % at a
// million and 0.2 % at a hundred million.
func (g *Guard) Counts() Counts {
	c := Counts{
		Scanned:        g.scanned.Load(),
		Spared:         g.spared.sum(),
		Found:          g.found.sum(),
		FalsePositives: g.falsePositives.sum(),
		NotReady:       g.notReady.sum(),
		Failed:         g.failed.sum(),
	}
	if l := g.getState().current; l != nil {
		c.N, c.Keys = l.Params().N, l.keys.Load()
	}
	return c
}

// Metrics returns the counts by name, for package prombloom. N is in Stats. "ready" is 0 or 1.
func (g *Guard) Metrics() map[string]float64 {
	ready := 0.0
	if g.Ready() {
		ready = 1
	}
	c := g.Counts()
	return map[string]float64{
		"ready": ready, "scanned": float64(c.Scanned), "keys": float64(c.Keys),
		"spared": float64(c.Spared), "found": float64(c.Found), "false_positives": float64(c.FalsePositives),
		"not_ready": float64(c.NotReady), "failed": float64(c.Failed), "false_positive_rate": c.FalsePositiveRate(),
	}
}
