package twins

// The command line.
var cliTwins = in("cmd/bloom",
	twin{name: "cmd/bloom: a mapped file's strategy is not its header's", tests: []string{"TestMappedAsItsHeaderSays"}, edits: one("mapped.go", `persist.OpenReadOnly(path, opts...)`, `persist.OpenReadOnly(path, append(opts, bloom.WithStrategy(bloom.DoubleHashing))...)`)},
	twin{name: "cmd/bloom: a variant's key is not asked for", tests: []string{"TestVariants"}, edits: one("files.go", `	if errors.Is(err, bloom.ErrIncompatible) && (strings`, `	if errors.Is(err, bloom.ErrTooLarge) && (strings`)},
	twin{name: "cmd/bloom: the environment's key for every file", tests: []string{"TestKeyIsForFilesThatHaveOne"}, edits: one("flags.go", `	if s.file == "" && !keyed {`, `	if s.file == "" && false {`)},
	twin{name: "cmd/bloom: a bit set that is longer than m", tests: []string{"TestBitsAndBloomsWithMoreBitsThanM"}, edits: one("recognise.go", `return length >= m && (length-1)/64`, `return length == m && (length-1)/64`)},
	twin{name: "cmd/bloom: the same parameters are a conflict", tests: []string{"TestScripts"}, edits: one("flags.go", `	case given("number") && uint64(pl.n) != p.N:`, `	case given("number"):`)},
	twin{name: "cmd/bloom: other parameters are no conflict", tests: []string{"TestScripts"}, edits: one("flags.go", `	case given("rate") && float64(pl.p) != p.P:`, `	case false:`)},
	twin{name: "cmd/bloom: another hash is no conflict", tests: []string{"TestScripts"}, edits: one("flags.go", `	case pl.hash.given() && hash != pl.hash.Hash:`, `	case false && hash != pl.hash.Hash:`)},
	twin{name: "cmd/bloom: an overfull dedup goes on", tests: []string{"TestStopsAtTheSameKey", "TestScripts"}, edits: one("dedup.go", `overfull.value == "warn"`, `overfull.value != ""`)},
	twin{name: "cmd/bloom: an overfull dedup adds a whole batch", tests: []string{"TestStopsAtTheSameKey"}, edits: one("deduper.go", `		now := int(min(left, uint64(len(keys))))`, `		now := len(keys)`)},
	twin{name: "cmd/bloom: keys that are on their way are not counted", tests: []string{"TestStopsAtTheSameKey"}, edits: one("deduper.go", `	d.sure -= uint64(len(c.keys))
`, ``)},
	twin{name: "cmd/bloom: a range in any order", tests: []string{"TestDedupOnAnyNumberOfCores", "TestParallelAdderIsSequential"}, edits: one("parallel.go", `	for _, entry := range b.bits {`, `	for i := range b.bits {
		entry := b.bits[len(b.bits)-1-i]`)},
	twin{name: "cmd/bloom: only the first range is asked", tests: []string{"TestParallelAdderIsSequential"}, edits: one("parallel.go", `			for r := range c.baskets {
				isNew`, `			for r := range c.baskets[:1] {
				isNew`)},
	twin{name: "cmd/bloom: dedup waits for a full buffer", hangs: true, tests: []string{"TestDedupStreams"}, edits: one("deduper.go", `			at += len(c.keys[i]) + 1
			i++
		}
	}
	return d.out.Flush()`, `			at += len(c.keys[i]) + 1
			i++
		}
	}
	return nil`)},
	twin{name: "cmd/bloom: what was dropped is not printed", tests: []string{"TestScripts"}, edits: one("verify.go", `		if s.unseen[key] {`, `		if s.unseen[key] && false {`)},
	twin{name: "cmd/bloom: an overfull filter's bits are not asked", tests: []string{"TestMissing"}, edits: one("promise.go", `		if missing > float64(p.added)/20 {`, `		if missing > 20*float64(p.added) {`)},
	twin{name: "cmd/bloom: two writers do not wait for each other", tests: []string{"TestTwoWriters", "TestManyWriters"}, edits: one("lock.go", `	name := path + lockSuffix`, `	if path != "" {
		return func() {}, nil
	}
	name := path + lockSuffix`)},
	twin{name: "cmd/bloom: a RedisBloom dump goes through a plain filter", tests: []string{"TestRedisBloom"}, edits: one("files.go", `f.(*rebloom.Filter); ok && to.name == redisbloom {`, `f.(*rebloom.Filter); ok && to.name == "" {`)},
	twin{name: "cmd/bloom: numbers of a Parquet column are text", tests: []string{"TestScripts"}, edits: one("values.go", `		case name == "" && fits:`, `		case name == "" && i == 0:`)},
	twin{name: "cmd/bloom: errors with control characters", tests: []string{"TestNothingMovesTheTerminal"}, edits: one("text.go", `		if r == '\n' || strconv.IsPrint(r) {`, `		if r != 0 || strconv.IsPrint(r) {`)},
	twin{name: "cmd/bloom: numbers that are rounded", tests: []string{"TestFlagValues"}, edits: one("flags.go", `	*c = count(x.Num().Uint64())`, `	*c = count(near)`)},
)
