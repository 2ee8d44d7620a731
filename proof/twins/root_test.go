package twins

// The second pass of doubleAdd, which several twins change.
const doubleSecondPass = `	x = h1
	for range k {
		if pos := probe.Reduce(x, m); pos != last {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return b.flip(last)`

func one(file, old, new string) []edit { return []edit{{file: file, old: old, new: new}} }

// slowMotion makes goroutines take turns in the middle of an add, so that races are
// lost and won on a machine of one processor too, or one that is busy.
func slowMotion(edits ...edit) []edit {
	return append(edits,
		edit{file: "bitarray.go", old: "import (\n", new: "import (\n\t\"runtime\"\n"},
		edit{file: "bitarray.go", old: "func (b bitArray) get(i uint64) uint64 {\n", new: `var yields atomic.Uint32

func yield() {
	if yields.Add(0x9e3779b9)>>30 == 0 {
		runtime.Gosched()
	}
}

func (b bitArray) get(i uint64) uint64 {
	yield()
`},
		edit{file: "bitarray.go", old: "func (b bitArray) flip(i uint64) bool {\n", new: "func (b bitArray) flip(i uint64) bool {\n\tyield()\n"},
		edit{file: "bitarray.go", old: "func (b bitArray) set(i uint64) {\n", new: "func (b bitArray) set(i uint64) {\n\tyield()\n"},
	)
}

var rootTwins = []twin{
	// Nothing wrong: what the racing twins have in common is not what is noticed.
	{name: "right, in slow motion", right: true, tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion()},
	{name: "right, in slow motion: linearizability", right: true, in: "proof", tests: []string{"TestLinearizable"}, edits: slowMotion()},

	// One winner.
	{name: "one pass, as Guava has it: DoubleHashing", tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "strategy_double.go", old: doubleSecondPass, new: `	x = h1
	won := false
	for range k {
		won = b.flip(probe.Reduce(x, m)) || won
		x = x*probe.Mul + y
	}
	return won`})},
	{name: "one pass, as Guava has it: linearizability", in: "proof", tests: []string{"TestLinearizable"}, edits: slowMotion(edit{file: "strategy_double.go", old: doubleSecondPass, new: `	x = h1
	won := false
	for range k {
		won = b.flip(probe.Reduce(x, m)) || won
		x = x*probe.Mul + y
	}
	return won`})},
	{name: "one pass: SeededHashing", slow: true, tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "strategy_seeded.go", old: `	for _, pos := range positions[:k] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)`, new: `	won := false
	for _, pos := range positions[:k] {
		won = b.flip(pos) || won
	}
	return won`})},
	{name: "one pass: a strategy of one's own", in: "proof/interleavings", tests: []string{"TestEveryInterleaving"}, edits: one("strategy_own.go", `	last := positions[at]
	for _, pos := range positions[:at] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)`, `	won := false
	for _, pos := range positions[:at+1] {
		won = b.flip(pos) || won
	}
	return won`)},
	{name: "one pass, step by step: Blocked4", in: "proof/interleavings", tests: []string{"TestEveryInterleaving"}, edits: one("strategy_blocked_kernels.go", `	atomic.OrUint64(a2, lack2)
	return flipLast(a3, lack3)`, `	won := flipLast(a2, lack2)
	return flipLast(a3, lack3) || won`)},
	{name: "the last word is flipped first, step by step: Blocked2", in: "proof/interleavings", slow: true, tests: []string{"TestEveryInterleaving"}, edits: one("strategy_blocked_kernels.go", `	atomic.OrUint64(a0, lack0)
	return flipLast(a1, lack1)`, `	won := flipLast(a1, lack1)
	atomic.OrUint64(a0, lack0)
	return won`)},
	{name: "the last bit is not set, step by step: DoubleHashing", in: "proof/interleavings", slow: true, tests: []string{"TestEveryInterleaving"}, edits: one("strategy_double.go", `		if pos := probe.Reduce(x, m); pos != last {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return b.flip(last)`, `		if pos := probe.Reduce(x, m); pos != last {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return b.get(last) == 0`)},
	{name: "one pass: Blocked4", slow: true, tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "strategy_blocked_kernels.go", old: `	atomic.OrUint64(a0, lack0)
	atomic.OrUint64(a1, lack1)
	atomic.OrUint64(a2, lack2)
	return flipLast(a3, lack3)`, new: `	won := flipLast(a0, lack0)
	yield()
	won = flipLast(a1, lack1) || won
	yield()
	won = flipLast(a2, lack2) || won
	return flipLast(a3, lack3) || won`})},
	{name: "the last bit is flipped first: DoubleHashing", tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "strategy_double.go", old: doubleSecondPass, new: `	x = h1
	won := b.flip(last)
	for range k {
		if pos := probe.Reduce(x, m); pos != last {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return won`})},
	{name: "the last word is flipped first: Blocked2", tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "strategy_blocked_kernels.go", old: `	atomic.OrUint64(a0, lack0)
	return flipLast(a1, lack1)`, new: `	won := flipLast(a1, lack1)
	yield()
	atomic.OrUint64(a0, lack0)
	return won`})},
	{name: "the wrong last word: Blocked2", tests: []string{"TestKernelsEqualIndexFunctions"}, edits: one("strategy_blocked_kernels.go", `	if lack1 == 0 {`, `	if lack1 != 0 {`)},
	{name: "the wrong last word: Blocked4", tests: []string{"TestKernelsEqualIndexFunctions"}, edits: one("strategy_blocked_kernels.go", `		a0, a3, lack0, lack3 = a3, a0, lack3, lack0
`, `		a0, a1, lack0, lack1 = a1, a0, lack1, lack0
`)},
	{name: "the wrong last word: Blocked8", slow: true, tests: []string{"TestKernelsEqualIndexFunctions"}, edits: one("strategy_blocked_kernels.go", `			last = j
`, `			last = max(last, 0)
`)},
	{name: "SplitBlock: another salt in assembly", tests: []string{"TestSplitKernelsAgree", "TestSplitBlockIsParquets"}, edits: one("internal/splitvec/splitvec_amd64.s", `$0x5c6bfb319efc4947`, `$0x5c6bfb319efc4945`)},
	{name: "SplitBlock: an add that does not see what another has set", tests: []string{"TestSplitKernelsAgree"}, edits: one("internal/splitvec/splitvec_amd64.s", `	JCS flip                // nothing`, `	JCC flip                // nothing`)},
	{name: "SplitBlock: vectors across cache lines", slow: true, tests: []string{"TestSplitVectorsNeedAlignment"}, edits: one("internal/splitvec/splitvec.go", `%32 == 0`, `%8 == 0`)},
	{name: "a coinciding bit is lost to oneself", tests: []string{"TestOneWinnerInLockstep", "TestKernelsEqualIndexFunctions"}, edits: one("strategy_double.go", doubleSecondPass, `	x = h1
	for i := range k {
		if pos := probe.Reduce(x, m); pos != last || i < k-1 {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return b.flip(last)`)},
	{name: "an OR that is not atomic: flip", tests: []string{"TestOneWinnerInLockstep"}, edits: slowMotion(edit{file: "bitarray.go", old: `	return b[i/64].Or(mask)&mask == 0`, new: `	old := b[i/64].Load()
	yield()
	b[i/64].Store(old | mask)
	return old&mask == 0`})},

	// Never misses.
	{name: "an OR that is not atomic: set", tests: []string{"TestNoMissesUnderConcurrency"}, edits: slowMotion(edit{file: "bitarray.go", old: `	b[i/64].Or(1 << (i % 64))
`, new: `	old := b[i/64].Load()
	yield()
	b[i/64].Store(old | 1<<(i%64))
`})},
	{name: "Union overwrites", slow: true, tests: []string{"TestNoMissesUnderConcurrency"}, edits: slowMotion(edit{file: "bitarray.go", old: `b[i].Or(w)`, new: `old := b[i].Load()
			runtime.Gosched()
			b[i].Store(old | w)`})},
	{name: "Union forgets the last word", tests: []string{"TestUnionIsTheFilterOfAllKeys"}, edits: one("bitarray.go", `	for i := range b {
		// Most words`, `	for i := range b[1:] {
		// Most words`)},
	{name: "Intersect unites", tests: []string{"TestIntersectKeepsCommonKeys"}, edits: one("sets.go", `f.bits.and(other.bits)`, `f.bits.or(other.bits)`)},
	{name: "Clone shares its bits", tests: []string{"TestCloneIsIndependent"}, edits: one("sets.go", `	c.bits = makeWords(uint64(len(f.bits)))
`, ``)},
	{name: "Clear leaves a word", slow: true, tests: []string{"TestClearForgets"}, edits: one("bitarray.go", `	for i := range b {
		b[i].Store(0)`, `	for i := range b[1:] {
		b[i].Store(0)`)},
	{name: "seeds are not compared", tests: []string{"TestCompatible", "TestCompatibleHashes"}, edits: one("sets.go", `	case x.hash.k0 != y.hash.k0:`, `	case false:`)},
	{name: "keys are not compared", slow: true, tests: []string{"TestCompatibleHashes"}, edits: []edit{
		{file: "sets.go", old: `	case x.hash.def == &sipHash && x.hash != y.hash:`, new: `	case false:`},
		{file: "sets.go", old: `	case x.hash.k0 != y.hash.k0:`, new: `	case x.hash.k0 != y.hash.k0 && x.hash.def != &sipHash:`}}},
	{name: "names of strategies are not compared", tests: []string{"TestCompatible"}, edits: one("strategy.go", ` && a.name == b.name && a.serial == b.serial`, ``)},

	// Positions.
	{name: "Add sets k-1 bits", tests: []string{"TestKernelsEqualIndexFunctions", "TestPositionsAreFrozen"}, edits: one("strategy_double.go", `b, m, k := f.bits, f.units, int(f.k)`, `b, m, k := f.bits, f.units, int(f.k)-1`)},
	{name: "Contains looks at k-1 bits", tests: []string{"TestKernelsEqualIndexFunctions"}, edits: one("strategy_double.go", `	m, k := f.units, f.k
`, `	m, k := f.units, f.k-1
`)},
	{name: "Contains leaves out a bit of four", tests: []string{"TestKernelsEqualIndexFunctions"}, edits: one("strategy_double.go", ` | f.lackAt(probe.Reduce(x3, m))`, ``)},
	{name: "seeds begin at 1", tests: []string{"TestPositionsAreFrozen", "TestKernelsEqualIndexFunctions"}, edits: one("strategy_seeded.go", `	seed += uint64(i)
`, `	seed += uint64(i) + 1
`)},
	{name: "SeededHashing ignores the seed", tests: []string{"TestSeedMovesPositions"}, edits: one("strategy_seeded.go", `	seed += uint64(i)
`, `	seed = uint64(i)
`)},
	{name: "the empty key's digest of zeros", tests: []string{"TestEmptyKey"}, edits: []edit{{"strategy_double.go", `x, y := h1, h2^probe.Xor`, `x, y := h1, h2`, 3}}},
	{name: "a position of 32 bits: reduce", tests: []string{"TestDoubleIndexBeyond32Bits"}, edits: one("internal/probe/probe.go", `	return hi
`, `	return uint64(uint32(hi))
`)},
	{name: "a position of 32 bits: get and set", slow: true, long: true, tests: []string{"TestBeyond32Bits"}, edits: []edit{
		{file: "bitarray.go", old: `return b[i/64].Load() >>`, new: `return b[uint32(i)/64].Load() >>`},
		{file: "bitarray.go", old: `	b[i/64].Or(1 << (i % 64))`, new: `	b[uint32(i)/64].Or(1 << (i % 64))`}}},
	{name: "Guava: the absolute value, not the complement", in: "interop/guava", tests: []string{"TestStrategiesAreTheFormula", "TestPositionsAreFrozen"}, edits: one("interop/guava/strategy.go", `uint64(x ^ x>>31)`, `uint64(x^x>>31) + uint64(uint32(x)>>31)`)},
	{name: "Guava: i begins at 0", slow: true, in: "interop/guava", tests: []string{"TestStrategiesAreTheFormula", "TestMitzOnSignedNumbers"}, edits: one("interop/guava/strategy.go", `int32(h1) + int32(i+1)*step`, `int32(h1) + int32(i)*step`)},
	{name: "a remainder that is m", tests: []string{"TestRemainder"}, edits: one("internal/divide/divide.go", `	return r + d.m&-borrow`, `	return r + 0*borrow`), in: "internal/divide"},

	// The rate.
	{name: "the textbook's double hashing", tests: []string{"TestRateIsKept", "TestPositionsAreFrozen"}, edits: []edit{
		{file: "strategy_double.go", old: `x = x*probe.Mul + y`, new: `x = x + y`, times: 3},
		{file: "strategy_double.go", old: `x1 := x*probe.Mul + y`, new: `x1 := x + y`, times: 2},
		{file: "strategy_double.go", old: `x = x1*probe.Mul + y`, new: `x = x1 + y`},
		{file: "strategy_double.go", old: `x2 := x1*probe.Mul + y`, new: `x2 := x1 + y`},
		{file: "strategy_double.go", old: `x3 := x2*probe.Mul + y`, new: `x3 := x2 + y`},
		{file: "strategy_double.go", old: `x = x3*probe.Mul + y`, new: `x = x3 + y`}}},
	{name: "a strategy that reuses hash bits: word and block", tests: []string{"TestRateIsKept", "TestPositionsAreFrozen"}, edits: []edit{
		{file: "strategy_blocked.go", old: `probe.Blocked(h2^probe.Xor`, new: `probe.Blocked(h1^probe.Xor`},
		{file: "strategy_blocked_kernels.go", old: `y := h2 ^ probe.Xor`, new: `y := h1 ^ probe.Xor`, times: 4},
		{file: "strategy_blocked_kernels.go", old: `y, p := h2^probe.Xor`, new: `y, p := h1^probe.Xor`, times: 2},
		{file: "strategy_blocked_kernels.go", old: `y, k := h2^probe.Xor`, new: `y, k := h1^probe.Xor`, times: 2}}},
	{name: "a strategy that reuses hash bits: later probes", slow: true, tests: []string{"TestPositionsAreFrozen"}, edits: one("internal/probe/blocked.go", `	hi, lo := bits.Mul64(y^uint64(t)*Xor, Mul)
	return hi ^ lo`, `	return bits.RotateLeft64(y, t)`)},
	{name: "MapHash: both halves the same", slow: true, tests: []string{"TestHashesWorkWithEveryStrategy"}, edits: one("internal/probe/widen.go", `	return x ^ x>>32`, `	return h1 + x*0`)},
	{name: "sized by the textbook's rate", tests: []string{"TestParamsForKeepsPAndIsMinimal"}, edits: one("params.go", `n) <= p && rate.Independent(words*64, k, n) <= p`, `n) <= p`)},
	{name: "the textbook's rate for the exact one", in: "internal/rate", tests: []string{"TestIndependentAgainstStepwise", "TestStepwiseAgainstBruteForce"}, edits: one("internal/rate/independent.go", `	return contour(m, k, n)
}`, `	return math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k))
}`)},
	{name: "a path of integration beside the saddle point", slow: true, in: "internal/rate", tests: []string{"TestIndependentAgainstStepwise"}, edits: one("internal/rate/independent.go", `	r := t - float64(k)*c`, `	r := t`)},
	{name: "steps of integration too long", slow: true, in: "internal/rate", tests: []string{"TestIndependentAgainstStepwise"}, edits: one("internal/rate/independent.go", `(0.86 - 0.75/`, `(1.1 - 0.75/`)},
	{name: "Blocked by the classical rate", in: "internal/rate", tests: []string{"TestBlockedAgainstBruteForce"}, edits: one("internal/rate/block.go", `	keys, others := float64(n), float64(blocks-1)
`, `	if blocks > 1 {
		return at(h.upTo(int(mean)+1), int(mean))
	}
	keys, others := float64(n), float64(blocks-1)
`)},
	{name: "Blocked's search ends at its first k", tests: []string{"TestBlockedParamsKeepPAndAreMinimal"}, edits: one("internal/rate/blocked_size.go", `	for blocks > 1 {
`, `	for false {
`)},
	{name: "Blocked's k is not the smallest", slow: true, tests: []string{"TestBlockedParamsKeepPAndAreMinimal"}, edits: one("internal/rate/blocked_size.go", `	for k > s.z && s.excess`, `	for false && s.excess`)},
	{name: "k is rounded down", tests: []string{"TestParamsForKeepsPAndIsMinimal"}, edits: one("params.go", `	if k < maxK && words > 1 &&`, `	if false &&`)},
	{name: "a smaller k is not tried", tests: []string{"TestParamsForKeepsPAndIsMinimal"}, edits: one("params.go", `	for smaller > 1 && `, `	for false && `)},
	{name: "one word too many", tests: []string{"TestParamsForKeepsPAndIsMinimal"}, edits: one("params.go", `	return words * 64, smaller`, `	return words*64 + 64, smaller`)},
	{name: "collisions of digests are forgotten", tests: []string{"TestMapHashCollisionsAreInTheRate"}, edits: one("params.go", `		return float64(n) / (1 << 64)`, `		return float64(n) / (1 << 64) * 1e-9`)},
	{name: "a full filter is counted", tests: []string{"TestEstimatesOfEmptyAndFull"}, edits: one("estimates.go", `		return math.MaxUint64
	}
	return uint64(math.Round(n))`, `		return 0
	}
	return uint64(math.Round(n))`)},
	{name: "the estimate of Blocked by the classical formula", tests: []string{"TestEstimatesFollowTheTruth"}, edits: one("strategy_blocked.go", `				return math.Log1p(-float64(x)/float64(m)) / rate.BlockedZeroLog(m, k, z)`, `				return math.Log1p(-float64(x)/float64(m)) * -float64(m) / float64(k)`)},

	// Folds.
	{name: "a fold loses a bit across words", tests: []string{"TestFoldIsExact"}, edits: one("internal/fold/fold.go", `word>>shift | next<<(64-shift)`, `word>>shift`)},
	{name: "a fold of blocks takes every other one", slow: true, tests: []string{"TestFoldIsExact"}, edits: one("internal/fold/fold.go", `from[first+j*words]`, `from[first+j/2*words]`)},
	{name: "FoldTo does not look at the bits", tests: []string{"TestFoldTo"}, edits: one("fold.go", `collisions <= p {`, `collisions <= 2*p {`)},
	{name: "a fold keeps its N", tests: []string{"TestFoldedParams"}, edits: one("fold.go", `		params.N = s.keysFor`, `		params.N = s.params.N + 0*s.keysFor`)},

	// Views.
	{name: "a view of words in the machine's order", slow: true, tests: []string{"TestViewIsTheFilter"}, in: "view", edits: one("view/kernels.go", `binary.LittleEndian.PutUint64(p[i%8*8:], p`, `binary.BigEndian.PutUint64(p[i%8*8:], p`)},
	{name: "a view looks at k-1 bits", tests: []string{"TestViewIsTheFilter", "TestViewOfAnyK"}, in: "view", edits: one("view/kernels.go", `	for ; k >= 4; k -= 4 {`, `	for k--; k >= 4; k -= 4 {`)},
	{name: "a view whose check is not looked at", tests: []string{"TestViewDamage"}, in: "view", edits: one("view/view.go", `meta) != binary.LittleEndian.Uint32(t[12:]) ||`, `meta) != binary.LittleEndian.Uint32(t[12:]) && false ||`)},
	{name: "a view takes any k", tests: []string{"TestViewForged"}, in: "view", edits: one("view/view.go", `k-1 < maxK && k&(z-1) == 0`, `k-1 < maxK+z`)},
	{name: "a trailer names Murmur3 for every hash", tests: []string{"TestViewOfEveryHash"}, in: "view", edits: one("view/view.go", `	return otherHash
}`, `	return murmur3Hash
}`)},
	{name: "a view loses RapidHash's seed", tests: []string{"TestViewNamesItsHash"}, in: "view", edits: one("view/view.go", `state = rapidhash.Start(seed)`, `state = rapidhash.Start(0 * seed)`)},
	{name: "a trailer of a hash that is none", tests: []string{"TestViewForged"}, in: "view", edits: one("view/view.go", `meta>>16&0xff > rapidHash {`, `meta>>16&0xff > rapidHash+1 {`)},

	// No lock, no allocation.
	{name: "a key that escapes", tests: []string{"TestNoAllocations"}, edits: []edit{
		{file: "bloom.go", old: `(murmur3.SeedSum128(f.seed, f.seed, key))`, new: `(escape(&f.scheme.hash, key))`, times: 2},
		{file: "bloom.go", old: `// AddString is`, new: `var escape = func(h *hasher, key []byte) (uint64, uint64) { return h.sum(key) }

var _ = murmur3.Sum64

// AddString is`}}},
	{name: "a string that is copied", tests: []string{"TestNoAllocations"}, edits: []edit{
		{file: "bloom.go", old: `return f.Contains(bytesOf(key))`, new: `return f.Contains(kept([]byte(key)))`},
		{file: "bloom.go", old: `// AddString is`, new: `var keep []byte

func kept(b []byte) []byte { keep = b; return b }

// AddString is`}}},
	{name: "get is a call", tests: []string{"TestInlining"}, edits: one("bitarray.go", `func (b bitArray) get(`, `//go:noinline
func (b bitArray) get(`)},

	// Batches.
	{name: "a batch in reverse", tests: []string{"TestBatchesEqualOneByOne"}, edits: one("batch.go", `		for i := range d {
			count += answer(f.AddDigest(`, `		for i := len(d) - 1; i >= 0; i-- {
			count += answer(f.AddDigest(`)},
	{name: "a batch answers in the wrong place", tests: []string{"TestBatchesEqualOneByOne"}, edits: one("batch.go", `group(found, first, end)`, `group(found, 0, end-first)`)},
	{name: "a batch leaves answers as they were", slow: true, tests: []string{"TestBatchesEqualOneByOne"}, edits: one("batch.go", `	if answers != nil {`, `	if answers != nil && yes {`)},

	// Keys of strangers.
	{name: "WithKey hashes without the key", tests: []string{"TestSipHashVector", "TestCollidingKeys"}, edits: one("hash.go", `		return siphash.Hash128(h.k0, h.k1, key)
`, `		return murmur3.SeedSum128(h.k0, h.k0+0*siphash.BlockSize, key)
`)},

	// RapidHash.
	{name: "RapidHash: the seed is lost", tests: []string{"TestRapidHashVectors", "TestGoldenFiles"}, edits: one("hash.go", `h.k1 = rapidhash.Start(seed)`, `h.k1 = rapidhash.Start(0)`)},
	{name: "RapidHash: a longer key in the caller", tests: []string{"TestKeysAndTheirDigests"}, edits: one("internal/rapidhash/rapidhash.go", `n > 16 && n <= 48 }`, `n > 16 && n <= 64 }`)},
	{name: "RapidHash: half a digest in a batch", tests: []string{"TestKeysAndTheirDigests"}, edits: one("batch.go", `		if f.kernel != kernelSplitVectors {`, `		if f.kernel == idNone {`)},
	{name: "rapidhash: the last bytes twice", in: "internal/rapidhash", tests: []string{"TestVectors", "TestAllLengths"}, edits: one("internal/rapidhash/rapidhash.go", `uint64(binary.LittleEndian.Uint32(key[n-4:]))`, `uint64(binary.LittleEndian.Uint32(key))`)},

	// Bad input.
	{name: "p = NaN goes through", slow: true, hangs: true, tests: []string{"TestParamsForRejects"}, edits: one("params.go", `	if !(p > 0 && p < 1) {`, `	if p <= 0 || p >= 1 {`)},
	{name: "k = 0 goes through", tests: []string{"TestNewWithParams"}, edits: one("strategy_definition.go", `	case k < 1 || k > d.largestK():`, `	case k < 0 || k > d.largestK():`)},
	{name: "a search that never ends", tests: []string{"TestStrategyRateOfOddShapes"}, edits: one("strategy_definition.go", `	case k < 1 || k > d.largestK():`, `	case k < 0 || k > d.largestK():`)},
	{name: "a bit beyond m in a stranger's words", tests: []string{"TestFilterOverRefusesWordsThatDoNotFit"}, edits: one("bitarray.go", `last>>tail != 0`, `last>>tail > 1<<40`)},

	// Files.
	{name: "words in the machine's order", tests: []string{"TestRoundTrip"}, edits: one("internal/format/write.go", `	le, out := binary.LittleEndian, dst`, `	le, out := binary.BigEndian, dst`)},
}
