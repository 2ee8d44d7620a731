package twins

const steps = "proof/interleavings"

// onePass is Guava's rule: a key is new if any of its bits was new. Two adds can both win.
const onePass = `	x, y, won := h1, h2^probe.Xor, false
	for range b.k {
		won = b.bits.flip(probe.Reduce(x, b.units)) || won
		x = x*probe.Mul + y
	}
	return won`

func edits(folder, declaration, old, new string) []edit {
	return []edit{{folder, declaration, old, new}}
}

// twins are grouped by the promises of docs/guarantees.md.
var twins = []twin{
	// One winner.
	{name: "one winner: nothing is wrong", in: "", tests: "TestOneWinnerInLockstep", slow: true, right: true},
	{name: "one winner: one pass, in lockstep", in: "", tests: "TestOneWinnerInLockstep", slow: true, edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: one pass, linearizability", in: "proof", tests: "TestLinearizable", slow: true, edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: one pass, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "doubleAdd", "", onePass)},
	{name: "one winner: Blocked2's last word first, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "flipTwo",
		`(atomic.OrUint64\(a0, unset0\))\n\s*return (flipLast\(.*\))`, "won := $2\n\t$1\n\treturn won")},
	{name: "one winner: Blocked4 in one pass, in every order", in: steps, tests: "TestEveryInterleaving", edits: edits("", "flipFour",
		`atomic.OrUint64\(a2, unset2\)\n\s*return (.*)`, "won := flipLast(a2, unset2)\n\treturn $1 || won")},
	{name: "one winner: an OR that is not atomic", in: "", tests: "TestOneWinnerInLockstep", slow: true, edits: edits("", "bitArray.flip", "",
		"\told := b[i/64].Load()\n\tyield()\n\tb[i/64].Store(old | 1<<(i%64))\n\treturn old>>(i%64)&1 == 0")},
	{name: "one winner: SplitBlock's assembly does not look at what it has set", in: "", tests: "TestSplitKernelsAgree", edits: edits("internal/splitvec", "splitvec_amd64.s", `\tJCS flip`, "\tJCC flip")},
	{name: "one winner: scalable does not look for newer layers", in: steps, tests: "TestScalableInSteps", edits: edits("scalable", "Filter.add", `if f\.layers\.Load\(\) == now`, "if true")},
	{name: "one winner: rotating does not look for newer layers", in: steps, tests: "TestRotatingInSteps", edits: edits("rotating", "Filter.try", `if f\.live\.Load\(\) == now`, "if true")},
	{name: "one winner: counting in one pass", in: steps, tests: "TestCountingInSteps", edits: edits("counting", "Filter.Add", `(f\.counters\.up\(positions\[last\]\) == 0)`, "($1 || true)")},
	{name: "one winner: two programs write one file", in: "cmd/bloom", tests: "TestManyWriters", edits: edits("cmd/bloom", "options.lock", "", "\treturn func() {}, nil")},

	// No key is missed.
	{name: "never misses: an OR that is not atomic", in: "", tests: "TestNoMissesUnderConcurrency", slow: true, edits: edits("", "bitArray.set", "",
		"\told := b[i/64].Load()\n\tyield()\n\tb[i/64].Store(old | 1<<(i%64))\n\treturn")},
	{name: "never misses: a union without its first word", in: "", tests: "TestUnionIsTheFilterOfAllKeys", edits: edits("", "bitArray.or", `range b \{`, "range b[1:] {")},
	{name: "never misses: a fold loses bits between words", in: "", tests: "TestFoldIsExact", edits: edits("internal/fold", "Bits", `end/64 - 1`, "end/64")},
	{name: "never misses: rotating forgets a generation early", in: "rotating", tests: "TestWindow TestAgainstExactModel", edits: edits("rotating", "Filter.oldest", `(int64\(f\.plan\.generations\))`, "$1 + 1")},
	{name: "never misses: rotating does not follow a key that is renewed", in: steps, tests: "TestRotatingInSteps", edits: edits("rotating", "Filter.contains", `return l != nil && .*`, "return false")},
	{name: "never misses: counting wraps a full counter", in: "counting", tests: "TestCountersStopAtBothEnds TestFullStaysFull", edits: edits("counting", "counters.up", `was == full \|\| `, "")},
	{name: "never misses: a cascade without its last level", in: "cascade", tests: "TestExactForBothLists", edits: edits("cascade", "Cascade.contains", `i < len\(c\.filters\)`, "i < len(c.filters)-1")},
	{name: "never misses: guard adds keys when they are visible", in: "guard", tests: "TestNoFalseNoInEverySchedule", edits: append(
		edits("guard", "Guard.Put", `defer s\.puts\.leave\(\).*`, "defer s.puts.leave()\n\tfailed := store()"), edits("guard", "Guard.Put", `err = store\(\)`, "err = failed")...)},
	{name: "never misses: guard forgets a put that has failed", in: "guard", tests: "TestNoFalseNoInEverySchedule", edits: edits("guard", "Guard.Put", `stored = err == nil`, "stored = true")},
	{name: "never misses: guard's build does not wait for puts", in: "guard", tests: "TestNoFalseNoInEverySchedule", edits: edits("guard", "Guard.build", `g\.retired\[0\]\.wait\(ctx\)`, "ctx.Err()")},
	{name: "never misses: guard's put does not look again", in: steps, tests: "TestGuardInSteps", edits: edits("guard", "Guard.enter", `if g\.state\.Load\(\) == s`, "if true")},
	{name: "never misses: guard's position is too late", in: "guard", tests: "TestNoFalseNoInEverySchedule", edits: edits("guard", "Guard.snapshot", `if g\.state\.Load\(\)\.current == l`, "if true")},

	// The rate.
	{name: "rate: the textbook's double hashing", in: "", tests: "TestRateIsKept TestPositionsAreFrozen", edits: append(
		edits("", "doublePositions", `x\*probe\.Mul \+ y`, "x + y"), append(
			edits("", "doubleAdd", `x\*probe\.Mul \+ y`, "x + y"),
			edits("", "doubleContains", `\*probe\.Mul \+ y`, " + y")...)...)},
	{name: "rate: sized by the textbook's formula", in: "internal/rate", tests: "TestIndependentAgainstStepwise", edits: edits("internal/rate", "Independent", "",
		"\treturn math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k))")},
	{name: "rate: one unit too few", in: "", tests: "TestParamsForKeepsPAndIsMinimal", edits: edits("", "Strategy.size", `units \* unit\n`, "(units - 1) * unit\n")},
	{name: "rate: all blocks of SplitBlock are alike", in: "internal/rate", tests: "TestSplitBlockByItsClosedForm", edits: edits("internal/rate", "SplitBlock", `more == 0`, "true")},
	{name: "rate: a product and a sum rounded once", in: "", tests: "TestSizesAreTheSameEverywhere", edits: edits("internal/rate", "distinct", `float64\(each\*float64\(j\)\*d\[j\]\) \+ (.*)`, "math.FMA(each*float64(j), d[j], $1)")},
	{name: "rate: a fold that does not count its bits", in: "", tests: "TestFoldTo", edits: edits("", "BloomFilter.smallestFold", `rate > p`, "rate > 2*p")},
	{name: "rate: Murmur3 starts at the seed", in: "", tests: "TestMurmurStartsAtNoLength TestRateOfEverySeedAndLength TestSeededHashingReachesAllPositions", edits: edits("internal/probe", "MurmurStart", "", "\treturn seed")},
	{name: "rate: equal digests are left out", in: "", tests: "TestMapHashCollisionsAreInTheRate", edits: edits("", "definition.equalDigests", "", "\treturn 0")},
	{name: "rate: scalable gives each layer half of p", in: "scalable", tests: "TestPlan", edits: edits("scalable", "plan", `p / \(float64\(i\+1\) \* float64\(i\+2\)\)`, "p / 2")},
	{name: "rate: rebloom gives the first layer all of p", in: "interop/rebloom", tests: "TestAgainstRecordings", edits: edits("interop/rebloom", "New", `rate := plan\.P / 2`, "rate := plan.P")},

	// No lock, no allocation.
	{name: "no allocation: a string is copied", in: "", tests: "TestNoAllocations", edits: append(
		edits("", "BloomFilter.ContainsString", "", "\tcopied = []byte(key)\n\treturn f.Contains(copied)"), edits("", "bytesOf", `(?s)^`, "var copied []byte\n\n")...)},
	{name: "no allocation: custom functions keep what they get", in: "", tests: "TestNoAllocations", edits: edits("internal/noescape", "Slice", "", "\treturn s")},
	{name: "no allocation: reading a bit is a call", in: "", tests: "TestInlining", edits: edits("", "bitArray.get", `(?s)^func`, "//go:noinline\nfunc")},

	// Stable positions and bytes.
	{name: "stable: k-1 bits", in: "", tests: "TestPositionsAreFrozen TestKernelsEqualIndexFunctions", edits: edits("", "doubleAdd", `k := b\.k;`, "k := b.k - 1;")},
	{name: "stable: words in another order", in: "", tests: "TestGoldenFiles", edits: edits("internal/format", "AppendWords", `binary\.LittleEndian`, "binary.BigEndian")},
	{name: "stable: SplitBlock's assembly has another salt", in: "", tests: "TestSplitKernelsAgree TestSplitBlockIsParquets", edits: edits("internal/splitvec", "splitvec_amd64.s", `\$0x5c6bfb319efc4947`, "$$0x5c6bfb319efc4945")},
	{name: "stable: Guava's absolute value instead of the complement", in: "interop/guava", tests: "TestStrategiesAreTheFormula TestPositionsAreFrozen", edits: edits("interop/guava", "fold32", `uint64\(x \^ x>>31\)`, "uint64(x^x>>31) + uint64(uint32(x)>>31)")},
	{name: "stable: a view in the machine's order", in: "view", tests: "TestViewIsTheFilter", edits: edits("view", "byteBlock.or", `LittleEndian`, "BigEndian")},
	{name: "stable: bloom-filters without the cube", in: "interop/bloomfilters", tests: "TestGolden", edits: edits("interop/bloomfilters", "Strategy", `\+ \(n\*n\*n-n\)/6`, "")},
	{name: "stable: bits in Redis's own order", in: "redisfilter", tests: "TestTransfer", edits: edits("redisfilter", "bitNumber", `pos \^ 7`, "pos")},

	// Bad input is an error.
	{name: "bad input: the header's checksum", in: "", tests: "TestDamagedHeaderIsNotFollowed", edits: edits("internal/format", "Reader.Header", `got != want`, "got != want && false")},
	{name: "bad input: half of the words' checksum", in: "", tests: "TestEveryBitFlipAndTruncation", edits: edits("internal/format", "Reader.End", `bytes\.Equal\(got, want\)`, "bytes.Equal(got[:4], want[:4])")},
	{name: "bad input: bits beyond m", in: "", tests: "TestForgedFields TestFilterOverRefusesWordsThatDoNotFit", edits: edits("", "bitArray.checkTail", `last>>tail != 0`, "last>>tail == 1<<63")},
	{name: "bad input: the header's length is believed", in: "", tests: "TestLyingHeaderAllocatesLittle", edits: edits("internal/format", "ReadWords", `room := min\(total, unit\)`, "room := total")},
	{name: "bad input: another key", in: "", tests: "TestReadOptionsMustAgree", edits: edits("", "options.keyChecked", `h\.checkValue\(\) != check`, "false")},
	{name: "bad input: a filter of another seed", in: "", tests: "TestCompatible", edits: edits("", "BloomFilter.compatible", `case x\.hash\.k0 != y\.hash\.k0`, "case false")},
	{name: "bad input: p = 1", in: "", tests: "TestParamsForRejects", edits: edits("", "paramsFor", `!\(p > 0 && p < 1\)`, "!(p > 0 && p < 2)")},
	{name: "bad input: a custom position outside the filter", in: "", tests: "TestCustomStrategyOutsidePanics", edits: edits("", "custom.check", `pos >= c\.m`, "pos > c.m")},
	{name: "bad input: a damaged view", in: "view", tests: "TestViewDamage", edits: edits("view", "valid", `check\((.*?)\) != `, "0*check($1) != 0*")},

	// Files.
	{name: "files: no fsync", in: "persist", tests: "TestPowerCutWhileSaving", edits: edits("persist", "replaceFile", `err = file\.Sync\(\)`, "err = nil")},
	{name: "files: no fsync of the folder", in: "persist", tests: "TestPowerCutWhileSaving", edits: edits("persist", "replaceFile", `return files\.syncDir\(.*\)`, "return nil")},
	{name: "files: Save replaces a mapped file", in: "persist", tests: "TestSaveRefuses", edits: edits("persist", "isMapped", "", "\treturn false")},
	{name: "files: Save replaces a file that it has not seen", in: "persist", tests: "TestSaveReplacesOnlyWhatItHasSeen", edits: edits("persist", "osFile.rename", `same, err := .*; err == nil && same`, "true")},
	{name: "files: a mapping that ends under its users", in: "persist", tests: "TestMappingOutlivesItsOperations", edits: edits("persist", "File.Close", `if f`, "if _ = unmapFile(f.mapping.Load().data); f")},
	{name: "files: others read an unfinished file", in: "persist", tests: "TestUnfinishedFileIsNotExposed", edits: edits("persist", "modeFor", `0o600`, "0o644")},
	{name: "files: guard trusts a damaged file", in: "guard", tests: "TestDamage", edits: edits("internal/frame", "Reader.Numbers", `!bytes\.Equal\(got, want\)`, "!bytes.Equal(got, want) && false")},

	// Redis.
	{name: "redis: the client sends an add again", in: "redisfilter", tests: "TestCutReplies", edits: edits("redisfilter/internal/send", "Once.NoRetry", "", "\treturn false")},
	{name: "redis: a rollback of one add", in: "redisfilter", tests: "TestRollback", edits: edits("redisfilter", "luaSlot", `if count - ARGV\[5\] < 0`, "if count - ARGV[5] < -1")},
	{name: "redis: the front learns keys that are absent", in: "redisfilter", tests: "TestModel", edits: edits("redisfilter", "Filter.answered", `found && f\.sender`, "f.sender")},
	{name: "redis: the front learns keys that no replica has", in: "redisfilter", tests: "TestFrontWaitsForReplicas", edits: edits("redisfilter", "Filter.answered", `found && f\.sender\.Replicas == 0`, "found")},
	{name: "redis: replicas are not waited for", in: "redisfilter", tests: "TestFrontWaitsForReplicas", edits: edits("redisfilter/internal/send", "Sender.Confirmed", `got < int64`, "got < 0*int64")},
	{name: "redis: a window forgets a generation early", in: "redisfilter", tests: "TestWindow", edits: edits("redisfilter", "luaRecord", `, \$generations do`, ", $$generations - 1 do")},
	{name: "redis: growing adds to an old layer", in: "redisfilter", tests: "TestHandleHearsOfLayers", edits: edits("redisfilter", "luaLayers", `if layers > want then .*`, "")},
	{name: "redis: the slot of a living handle is taken", in: "redisfilter", tests: "TestManyHandles", edits: edits("redisfilter", "scriptClaim", `if oldest >= now - 60 .*`, "")},
}
