package twins

const (
	steps = "checks/proof/interleavings"
	walk  = "ExampleScheme_AppendPositions" // of docs/internals.md
)

// onePass is Guava's rule: a key is new if any of its bits was new. Two adds can both win.
const onePass = `	x, y, won := h1, h2^probe.Xor, false
	for range b.k {
		won = b.bits.flip(probe.Reduce(x, b.blocks)) || won
		x = x*probe.Mul + y
	}
	return won`

func edits(folder, declaration, old, new string) []edit {
	return []edit{{folder, declaration, old, new}}
}

// twins are grouped by the guarantees in the documentation of package bloom.
var twins = []twin{
	// The walk of docs/internals.md: each function that it names.
	{name: "walk: newOptions", tests: walk, edits: edits("", "newOptions", `&doubleHashing`, "&blockedStrategy")},
	{name: "walk: paramsFor", tests: walk, edits: edits("", "paramsFor", `s.size(n, rest)`, "s.size(n, rest/2)")},
	{name: "walk: search", tests: walk, edits: edits("", "search", `return units * unit`, "return (units + 1) * unit")},
	{name: "walk: Scheme.with", tests: walk, edits: edits("", "Scheme.with", `params.M / s.strategy.blockBits()`, "params.M / 2 / s.strategy.blockBits()")},
	{name: "walk: newBitArray", tests: walk, edits: edits("", "newBitArray", `wordsFor(m)`, "wordsFor(m) + 1")},
	{name: "walk: Scheme.over", tests: walk, edits: edits("", "Scheme.over", `f.bits = bits`, "f.bits, f.state = bits, 1")},
	{name: "walk: vector.For", tests: walk, assembly: true, edits: edits("internal/vector", "For", `return table[h][l]`, "return table[Rapid][l]")},
	{name: "walk: BloomFilter.do", tests: walk, assembly: true, edits: edits("", "BloomFilter.do", `f.byKey.One[op&1]`, "f.byKey.One[1-op&1]")},
	{name: "walk: vector.DoKey", tests: walk, edits: edits("internal/vector", "kernels_amd64.s", `MOVQ n+16(FP), length`, "MOVQ $3, length")},
	{name: "walk: MURMUR", tests: walk, edits: edits("internal/vector", "kernels_amd64.s", `MOVQ $0x87c37b91114253d5, mul1`, "MOVQ $0x87c37b91114253d7, mul1")},
	{name: "walk: DOUBLE", tests: walk, edits: edits("internal/vector", "kernels_amd64.s", `PROBE(x1, note)`, "PROBE(x2, note)")},
	{name: "walk: SETDOUBLE", tests: walk, edits: edits("internal/vector", "kernels_amd64.s", `JNE bit`, "NOP")},
	{name: "walk: doubleAdd", tests: walk, edits: edits("", "doubleAdd", `flipAll(`, "!flipAll(")},
	{name: "walk: flipAll", tests: walk, edits: edits("", "flipAll", `b.set(pos)`, "b.set(pos ^ 1)")},
	{name: "walk: doublePositions", tests: walk, edits: edits("", "doublePositions", `x*probe.Mul + y`, "x + y")},

	// One winner.
	{name: "one winner: nothing is wrong", in: "", tests: "TestOneWinnerInLockstep", slow: true, right: true},
	{name: "one winner: one pass, in lockstep", in: "", tests: "TestOneWinnerInLockstep", slow: true, edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: one pass, linearizability", in: "checks/proof", tests: "TestLinearizable", slow: true, edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: one pass, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: Blocked2's last word first, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "flipTwo",
		`atomic.OrUint64(a0, unset0) return flipLast(a1, unset1)`, "won := flipLast(a1, unset1)\n\tatomic.OrUint64(a0, unset0)\n\treturn won")},
	{name: "one winner: Blocked4 in one pass, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "flipFour",
		`atomic.OrUint64(a2, unset2) return flipLast(a3, unset3)`, "won := flipLast(a2, unset2)\n\treturn flipLast(a3, unset3) || won")},
	{name: "one winner: Blocked's Go code and assembly end with different words", in: "", tests: "TestLastWordIsSetLast", edits: edits("", "blockedAdd", "",
		"\tvar all [maxK]uint64\n\tblockedPositions(b, all[:b.k], h1, h2)\n\treturn addAll(b.bits, all[:b.k])")},
	{name: "one winner: an OR that is not atomic", in: "", tests: "TestOneWinnerInLockstep", slow: true, edits: edits("", "bitArray.flip", "",
		"\told := b[i/64].Load()\n\tyield()\n\tb[i/64].Store(old | 1<<(i%64))\n\treturn old>>(i%64)&1 == 0")},
	{name: "one winner: SplitBlock's assembly does not look at what it has set", in: "", tests: "TestKernels", edits: edits("internal/vector", "kernels_amd64.s", `	JCS flip`, "\tJCC flip")},
	{name: "one winner: Blocked2's assembly ends with the wrong word", in: "", tests: "TestKernels", edits: edits("internal/vector", "kernels_amd64.s", `JNE inorder`, "JEQ inorder")},
	{name: "one winner: Blocked4's assembly always ends with the last word", in: "", tests: "TestKernels", edits: edits("internal/vector", "kernels_amd64.s", `JEQ rare`, "NOP")},
	{name: "one winner: Blocked8's assembly always ends with the last pair", in: "", tests: "TestKernels", edits: edits("internal/vector", "kernels_amd64.s", `BSRQ old, lastPair \ ANDL`, "MOVQ $7, lastPair \\\n\tANDL")},
	{name: "one winner: no lock, the last word", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ CMPXCHGQ new, (last)`, "CMPXCHGQ new, (last)")},
	{name: "one winner: no lock, SplitBlock's halves", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ CMPXCHG16B (block) \`, "CMPXCHG16B (block) \\")},
	{name: "one winner: no lock, Blocked2's first word", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ ORQ CX, (word1)`, "ORQ (word1), CX; PAUSE; PAUSE; PAUSE; MOVQ CX, (word1)")},
	{name: "one winner: no lock, Blocked4's first words", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ ORQ CX, 16(block)(pick2*8)`, "ORQ CX, 16(block)(pick2*8)")},
	{name: "one winner: no lock, Blocked8's pairs", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ CMPXCHG16B (block)(pair*1)`, "CMPXCHG16B (block)(pair*1)")},
	{name: "one winner: no lock, Double's first bits", in: "", tests: "TestSettersInLockstep", edits: edits("internal/vector", "kernels_amd64.s", `LOCK \ ORQ DX, (array)(old*8)`, "ORQ DX, (array)(old*8)")},
	{name: "one winner: Double's assembly sets the last bit twice", in: "", tests: "TestKernels", edits: edits("internal/vector", "kernels_amd64.s", `JEQ listed`, "NOP")},
	{name: "one winner: a growing filter does not look for newer layers", in: steps, tests: "TestLayeredInSteps", edits: edits("internal/layered", "Growing.try", `if g.layers.Load() == now`, "if true")},
	{name: "one winner: an added key is refused", in: "internal/layered", tests: "TestFullAfterItWasOvertaken", edits: edits("internal/layered", "Growing.try", `err == nil || a.ticket == nil`, "true")},
	{name: "one winner: counting in one pass", in: steps, tests: "TestCountingInSteps", edits: edits("counting", "Filter.Add", `f.counters.up(positions[last]) == 0`, "(f.counters.up(positions[last]) == 0 || true)")},
	{name: "one winner: two programs write one file", in: "cmd/bloom", tests: "TestManyWriters", edits: edits("cmd/bloom", "lock", "", "\treturn func() {}, nil")},
	{name: "one winner: a command's lock is on a file that was removed", in: "cmd/bloom", tests: "TestOneHolder", edits: edits("cmd/bloom", "lock", `os.SameFile(ours, named)`, "(os.SameFile(ours, named) || true)")},

	// No key is missed.
	{name: "never misses: an OR that is not atomic", in: "", tests: "TestNoMissesUnderConcurrency", slow: true, edits: edits("", "bitArray.set", "",
		"\told := b[i/64].Load()\n\tyield()\n\tb[i/64].Store(old | 1<<(i%64))\n\treturn")},
	{name: "never misses: a union without a lock", in: "", tests: "TestSettersInLockstep TestMethodsWhileAdding", slow: true, edits: edits("", "bitArray.or", `b[i].Or(w)`,
		"old := b[i].Load()\n\t\t\tyield()\n\t\t\tb[i].Store(old | w)")},
	{name: "never misses: a union without its first word", in: "", tests: "TestUnionIsTheFilterOfAllKeys", edits: edits("", "bitArray.or", `range b {`, "range b[1:] {")},
	{name: "never misses: a clone without its last line", in: "", tests: "TestMethodsWhileAdding", edits: edits("", "BloomFilter.Clone", `bits.copyFrom(f.bits)`, "bits.copyFrom(f.bits[:len(f.bits)-8])")},
	{name: "never misses: a union writes to the other filter", in: "", tests: "TestMethodsWhileAdding TestUnionIsTheFilterOfAllKeys", edits: edits("", "bitArray.or", `b[i].Or(w)`, "other[i].Store(b[i].Or(w) | w)")},
	{name: "never misses: a fold loses bits between words", in: "", tests: "TestFoldIsExact", edits: edits("", "foldBits", `end/64 - 1`, "end/64")},
	{name: "never misses: rotating forgets a generation early", in: "rotating", tests: "TestWindow TestAgainstExactModel", edits: edits("internal/layered", "Growing.Oldest", `g.Remembers`, "g.Remembers + 1")},
	{name: "never misses: rotating does not follow a key that is renewed", in: "rotating", tests: "TestRenewedWhileItIsLookedUp", edits: edits("rotating", "Filter.contains", `l != nil && l.Generation >= f.layers.Oldest(now, g)`, "false")},
	{name: "never misses: scalable looks into the first layer alone", in: "scalable", tests: "TestAgainstExactModel TestFull", edits: edits("scalable", "Filter.Contains", `len(now) == 1`, "len(now) >= 1")},
	{name: "never misses: counting wraps a full counter", in: "counting", tests: "TestCountersStopAtBothEnds TestFullStaysFull", edits: edits("counting", "counters.up", `was == full || `, "")},
	{name: "never misses: counting does not take back a Remove that fails", in: "counting", tests: "TestRemoveTogether", edits: edits("counting", "Filter.Remove", `f.counters.up(undo)`, "_ = undo")},
	{name: "never misses: a cascade without its last level", in: "cascade", tests: "TestExactForBothLists", edits: edits("cascade", "Cascade.contains", `i < len(c.filters)`, "i < len(c.filters)-1")},
	{name: "never misses: guard adds keys when they are visible", in: steps, tests: "TestGuardInSteps", edits: append(
		edits("guard", "Guard.Put", `defer s.puts.leave()`, "defer s.puts.leave()\n\tfailed := store()"), edits("guard", "Guard.Put", `err = store()`, "err = failed")...)},
	{name: "never misses: guard forgets a put that has failed", in: steps, tests: "TestGuardInSteps", edits: edits("guard", "Guard.Put", `stored = err == nil`, "stored = true")},
	{name: "never misses: guard's build does not wait for puts", in: steps, tests: "TestGuardInSteps", edits: edits("guard", "Guard.build", `g.retired[0].wait(ctx)`, "ctx.Err()")},
	{name: "never misses: guard's put does not look again", in: steps, tests: "TestGuardInSteps", edits: edits("guard", "Guard.enter", `if g.state.Load() == s`, "if true")},
	{name: "never misses: guard's position is too late", in: steps, tests: "TestGuardInSteps", edits: edits("guard", "Guard.snapshot", `if g.state.Load().current == l`, "if true")},

	// The rate.
	{name: "rate: the textbook's double hashing", in: "", tests: "TestRateIsKept TestFrozenPositions", edits: append(
		edits("", "doublePositions", `x*probe.Mul + y`, "x + y"), append(
			edits("", "doubleAdd", `x*probe.Mul + y`, "x + y"),
			edits("", "doubleContains", `*probe.Mul + y`, " + y")...)...)},
	{name: "rate: sized by the textbook's formula", in: "internal/rate", tests: "TestIndependentIsNeverBelow", edits: edits("internal/rate", "Independent", "",
		"\treturn math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k))")},
	{name: "rate: one unit too few", in: "", tests: "TestSizesKeepPAndAreMinimal", edits: edits("", "search", `return units * unit`, "return (units - 1) * unit")},
	{name: "rate: all blocks of SplitBlock are alike", in: "internal/rate", tests: "TestSplitBlockByItsClosedForm", edits: edits("internal/rate", "SplitBlock", `more == 0`, "true")},
	{name: "rate: a product and a sum rounded once", in: "", tests: "TestFrozenSizes", edits: edits("internal/rate", "distinct", `float64(each*float64(j)*d[j]) + float64((1-float64(each*float64(j-1)))*d[j-1])`,
		"math.FMA(each*float64(j), d[j], float64((1-float64(each*float64(j-1)))*d[j-1]))")},
	{name: "rate: a fold that does not count its bits", in: "", tests: "TestFoldTo", edits: edits("", "BloomFilter.smallestFold", `rate > p`, "rate > 2*p")},
	{name: "rate: Murmur3 starts at the seed", in: "", tests: "TestMurmurStartsAtNoLength TestSeededHashingReachesAllPositions", edits: edits("internal/probe", "MurmurStart", "", "\treturn seed")},
	{name: "rate: equal digests are left out", in: "", tests: "TestMapHashCollisionsAreInTheRate", edits: edits("", "Hash.equalDigests", "", "\treturn 0")},
	{name: "rate: scalable gives each layer half of p", in: "scalable", tests: "TestPlan", edits: edits("internal/layered", "Rate", `p / (float64(i+1) * float64(i+2))`, "p / 2")},
	{name: "rate: rotating gives each generation all of p", in: "rotating", tests: "TestStreams", edits: edits("rotating", "plan.rate", `p.p/float64(p.generations+1)`, "p.p")},
	{name: "rate: redisbloom gives the first layer all of p", in: "interop/redisbloom", tests: "TestAgainstRecordings", edits: edits("interop/redisbloom", "New", `rate := plan.P / 2`, "rate := plan.P")},

	// No lock, no allocation.
	{name: "no allocation: a string is copied", in: "", tests: "TestNoAllocations", edits: append(
		edits("", "BloomFilter.ContainsString", "", "\tcopied = []byte(key)\n\treturn f.Contains(copied)"), edits("", "widened", `func widened`, "var copied []byte\n\nfunc widened")...)},
	{name: "no allocation: custom functions keep what they get", in: "", tests: "TestNoAllocations", edits: edits("internal/memory", "NoEscape", "", "\treturn s")},
	{name: "no allocation: reading a bit is a call", in: "", tests: "TestInlining", edits: edits("", "bitArray.at", `func (b bitArray)`, "//go:noinline\nfunc (b bitArray)")},

	// Stable positions and bytes.
	{name: "stable: k-1 bits", in: "", tests: "TestFrozenPositions TestKernelsEqualIndexFunctions", edits: edits("", "doubleAdd", `k := b.k;`, "k := b.k - 1;")},
	{name: "stable: words in another order", in: "", tests: "TestFrozenFiles", edits: edits("internal/format", "AppendWords", `binary.LittleEndian`, "binary.BigEndian")},
	{name: "stable: SplitBlock's assembly has another salt", in: "", tests: "TestKernels TestSplitBlockIsParquets", edits: edits("internal/vector", "kernels_amd64.s", `$0x5c6bfb319efc4947`, "$0x5c6bfb319efc4945")},
	{name: "stable: Guava's absolute value instead of the complement", in: "interop/guava", tests: "TestFrozenFiles TestFrozenPositions", edits: edits("interop/guava", "fold32", `uint64(x ^ x>>31)`, "uint64(x^x>>31) + uint64(uint32(x)>>31)")},
	{name: "stable: a view in the machine's order", in: "view", tests: "TestViewIsTheFilter", edits: edits("view", "block.or", `LittleEndian`, "BigEndian")},
	{name: "stable: bloom-filters without the cube", in: "interop/npmbloomfilters", tests: "TestFrozenFiles", edits: edits("interop/npmbloomfilters", "definition", `+ (n*n*n-n)/6`, "")},
	{name: "stable: bits in another order", in: "redisfilter", tests: "TestTransfer", edits: edits("redisfilter", "blockOf", `1 << (pos % 64)`, "1 << (pos % 64 ^ 7)")},

	// Bad input is an error.
	{name: "bad input: the header's checksum", in: "", tests: "TestDamagedHeaderIsNotFollowed", edits: edits("internal/format", "Reader.Header", `got != want`, "got != want && false")},
	{name: "bad input: half of the words' checksum", in: "", tests: "TestConformance", edits: edits("internal/format", "Reader.End", `bytes.Equal(got, want)`, "bytes.Equal(got[:4], want[:4])")},
	{name: "bad input: bits beyond m", in: "", tests: "TestForgedFields TestFilterOverRefusesWordsThatDoNotFit", edits: edits("", "bitArray.checkTail", `last>>tail != 0`, "last>>tail == 1<<63")},
	{name: "bad input: the header's length is believed", in: "", tests: "TestConformance", edits: edits("internal/format", "ReadWords", `left < total*8 && total > unit`, "false")},
	{name: "bad input: another key", in: "", tests: "TestReadOptionsMustAgree", edits: edits("", "options.checkSecret", `secretCheck(o.keyed) != check`, "false")},
	{name: "bad input: a filter of another seed", in: "", tests: "TestCompatible", edits: edits("", "BloomFilter.compatible", `case x.seed != y.seed`, "case false")},
	{name: "bad input: p = 1", in: "", tests: "TestParamsRejects", edits: edits("", "Strategy.checkP", `!(p > 0 && p < 1)`, "!(p > 0 && p < 2)")},
	{name: "bad input: a custom position outside the filter", in: "", tests: "TestCustomStrategyOutsidePanics", edits: edits("", "checkPosition", `pos >= m`, "pos > m")},
	{name: "bad input: a damaged view", in: "view", tests: "TestViewDamage", edits: edits("view", "valid", `check(m, seed, meta) !=`, "0*check(m, seed, meta) != 0*")},

	// Files.
	{name: "files: no fsync", in: "persist", tests: "TestPowerCutWhileSaving", edits: edits("persist", "save", `err := file.Sync()`, "err := error(nil)")},
	{name: "files: no fsync of the folder", in: "persist", tests: "TestPowerCutWhileSaving", edits: edits("persist", "makeFile", `return files.syncDir(folder(path))`, "return nil")},
	{name: "files: Save replaces a mapped file", in: "persist", tests: "TestSaveAndLoadRefuse", edits: edits("persist", "isMapped", "", "\treturn false, nil")},
	{name: "files: Save takes the file of a living one", in: "persist", tests: "TestLeftovers", edits: edits("persist", "removeLeftovers", `lock(f) == nil`, "true")},
	{name: "files: an earlier Save undoes a later one", in: "persist", tests: "TestSavesFollowEachOther", edits: edits("persist", "save", `lockPath(path)`, "func() {}")},
	{name: "files: a mapping that ends under its users", in: "persist", tests: "TestMappingOutlivesItsOperations", edits: edits("persist", "File.Close", `if f`, "if _ = unmapFile(f.mapping.Load().data); f")},
	{name: "files: ContainsMany lets its mapping go", in: "persist", tests: "TestMappingOutlivesItsOperations", edits: edits("persist", "File.ContainsMany", `defer runtime.KeepAlive(m)`, "")},
	{name: "files: others read an unfinished file", in: "persist", tests: "TestUnfinishedFileIsNotExposed", edits: edits("persist", "createNew", `0o600`, "0o644")},
	{name: "files: guard trusts a damaged file", in: "guard", tests: "TestFormat", edits: edits("internal/format", "FrameReader.Numbers", `!bytes.Equal(got, want)`, "!bytes.Equal(got, want) && false")},

	// Redis.
	{name: "redis: an unsure key gets false", in: "redisfilter", tests: "TestSentTwice", edits: edits("redisfilter", "batch.settle", `b.answers[i] = true`, "b.answers[i] = false")},
	{name: "redis: the cache learns keys that no replica has", in: "redisfilter", tests: "TestCacheWaitsForReplicas", edits: edits("redisfilter", "handle.settleAdded", `if warning == nil`, "if true")},
	{name: "redis: replicas are not waited for", in: "redisfilter", tests: "TestCacheWaitsForReplicas", edits: edits("redisfilter/internal/send", "Sender.Confirmed", `got < int64`, "got < 0*int64")},
	{name: "redis: keys are sent that nobody waits for", in: "redisfilter", tests: "TestQueueOfNobody", edits: edits("redisfilter", "queue.next", `w.ctx.Err() == nil`, "w.ctx != nil")},
	{name: "redis: a window forgets a generation early", in: "redisfilter", tests: "TestWindow", edits: edits("redisfilter", "windowed.alive", `places > now`, "places > now+1")},
}
