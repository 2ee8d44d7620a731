package bloom

// The sizes from which it pays to ask for lines beforehand, in words: smaller filters are in the
// cache of one core. Strategies whose bits are in many lines wait for several of them at once
// anyway. BenchmarkBatch.
const (
	prefetchWords  = 1 << 20 / 8
	scatteredWords = 4 << 20 / 8
)
