package twins

// Hashes and strategies of a user's own, and what options may say.
var ownTwins = []twin{
	{name: "an own hash is left out of Add", tests: []string{"TestOwnHashIsTheHash"}, edits: []edit{{"bloom.go", `	case idOwnHash64:
		h1 = f.scheme.hash.def.sum64(unescaped(key))`, `	case idOwnHash64:
		h1, _ = murmur3.SeedSum128(f.seed, f.seed, key)`, 2}}},
	{name: "an own hash is not compared", tests: []string{"TestOwnHashIsTheIdentity"}, edits: one("hash.go", `d.name == other.name && d.serial == other.serial`, `true`)},
	{name: "a file with another own hash is read", tests: []string{"TestOwnHashIsTheIdentity"}, edits: one("header.go", `o.hash != nil && o.hash.name == name {`, `o.hash != nil && o.hash.own() {`)},
	{name: "what own functions get escapes", tests: []string{"TestNoAllocations"}, edits: one("escape.go", `	return unsafe.Slice((*E)(noescape(unsafe.Pointer(unsafe.SliceData(s)))), len(s))`, `	return s`)},
	{name: "the stack moves while a pointer is hidden", tests: []string{"TestStackGrowsAtEachDepth"}, edits: one("escape.go", `	number := uintptr(p)
`, `	number := uintptr(p)
	_, _ = newBitArray(64)
`)},
	{name: "equal 64-bit digests are not part of the rate", tests: []string{"TestOwnHashRefused"}, edits: one("params.go", `equalDigests(n, h.bits), p
`, `equalDigests(n, h.bits), p
	if h.sum64 != nil {
		equal = 0
	}
`)},
	{name: "Digest64 leaves the value as it is", tests: []string{"TestDigest64KeepsTheRate", "TestDigest64Vectors"}, edits: one("digest.go", `	return x, widen(x)`, `	return v, widen(x)`)},
	{name: "a rotation for the second half", tests: []string{"TestDigest64KeepsTheRate", "TestDigest64Vectors"}, edits: one("internal/probe/widen.go", `	return x ^ x>>32`, `	return x<<32 | x>>32`)},
	{name: "a nil option", tests: []string{"TestHashOptionsThatExcludeEachOther"}, edits: one("options.go", `		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", ErrInvalid, i+1, len(opts))
		}
`, `		_ = i
`)},
	{name: "the zero Hash is the default", tests: []string{"TestHashOptionsThatExcludeEachOther", "TestOwnHashRefused"}, edits: one("hash_own.go", `	case d == nil:
		return fmt.Errorf("%w: the hash is the zero Hash, want one such as Murmur3", ErrInvalid)`, `	case d == nil:
		return nil`)},
	{name: "a hostile name is not quoted", tests: []string{"TestForgedFields"}, edits: one("header.go", `the data's hash is %q, want one of that name by WithHash`, `the data's hash is %s, want one of that name by WithHash`)},
	{name: "filters follow the variables", tests: []string{"TestVariablesAreNotTheFilters"}, edits: one("options.go", `strategy: Strategy{&doubleHashing}`, `strategy: DoubleHashing`)},
	{name: "an own strategy's bit outside goes through", tests: []string{"TestOwnStrategyOutsidePanics"}, edits: []edit{{"strategy_own.go", `max(p0, p1, p2, p3); most >= m`, `max(p0, p1, p2, p3); most > m+1`, 2}}},
	{name: "positions from the k-th on count", tests: []string{"TestOwnStrategyOutsidePanics"}, edits: one("strategy_own.go", `			p3 = p0`, `			p3 += 0`)},
	{name: "an own strategy's word outside goes through", tests: []string{"TestOwnStrategyOutsidePanics"}, edits: []edit{{"strategy_own.go", `mask.Word >= uint64(len(b))`, `mask.Word > uint64(len(b))`, 2}}},
	{name: "own positions: the first that lacks is flipped last", tests: []string{"TestOneWinnerInLockstep"}, slow: true, edits: slowMotion(edit{file: "strategy_own.go", old: `	last := positions[at]
	for _, pos := range positions[:at] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)`, new: `	won := false
	for _, pos := range positions[:at+1] {
		won = b.flip(pos) || won
	}
	return won`})},
	{name: "own masks that share bits lose their winner", tests: []string{"TestMasksThatShareAWord"}, edits: one("strategy_own.go", `			mask.Bits &^= last.Bits`, `			mask.Bits |= last.Bits`)},
	{name: "an own k that is not checked", tests: []string{"TestOwnStrategyRules"}, edits: one("strategy_definition.go", `	case d.K != 0 && k != d.K:`, `	case d.K != 0 && k > d.K+1:`)},
	{name: "what an own strategy refuses is made", tests: []string{"TestOwnStrategyRules"}, edits: one("strategy_own.go", `	case err != nil:
		return fmt`, `	case err != nil && own.masks != nil:
		return fmt`)},
	{name: "an own rate is not asked for", tests: []string{"TestOwnSizing"}, edits: one("params.go", `d.Size != nil || d.Rate != nil ||`, `d.Size != nil ||`)},
}

func init() { twins = append(twins, ownTwins...) }
