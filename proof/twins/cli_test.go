package twins

// The command line.
var cliTwins = in("cmd/bloom",
	twin{name: "cmd/bloom: a mapped file's strategy is not its header's", tests: []string{"TestMappedAsItsHeaderSays"}, edits: one("mapped.go", `persist.OpenReadOnly(path, opts...)`, `persist.OpenReadOnly(path, append(opts, bloom.WithStrategy(bloom.DoubleHashing))...)`)},
	twin{name: "cmd/bloom: the environment's key for every file", tests: []string{"TestKeyIsForFilesThatHaveOne"}, edits: one("flags.go", `	if s.file == "" && !keyed {`, `	if s.file == "" && false {`)},
	twin{name: "cmd/bloom: a bit set that is longer than m", tests: []string{"TestBitsAndBloomsWithMoreBitsThanM"}, edits: one("formats.go", `return length >= m && (length-1)/64`, `return length == m && (length-1)/64`)},
	twin{name: "cmd/bloom: the same parameters are a conflict", tests: []string{"TestScripts"}, edits: one("flags.go", `	case given("number") && uint64(pl.n) != p.N:`, `	case given("number"):`)},
	twin{name: "cmd/bloom: other parameters are no conflict", tests: []string{"TestScripts"}, edits: one("flags.go", `	case given("rate") && float64(pl.p) != p.P:`, `	case false:`)},
	twin{name: "cmd/bloom: an overfull dedup goes on", tests: []string{"TestStopsAtTheSameKey", "TestScripts"}, edits: []edit{{file: "dedup.go", old: `overfull.value == "warn"`, new: `overfull.value != ""`, times: 2}}},
	twin{name: "cmd/bloom: an overfull dedup adds a whole batch", tests: []string{"TestStopsAtTheSameKey"}, edits: one("dedup.go", `!goOn && left < uint64(len(keys)) {`, `!goOn && left < 0 {`)},
	twin{name: "cmd/bloom: an overfull filter's bits are not asked", tests: []string{"TestMissing"}, edits: one("promise.go", `		if missing > float64(p.added)/20 {`, `		if missing > 20*float64(p.added) {`)},
	twin{name: "cmd/bloom: two writers do not wait for each other", tests: []string{"TestTwoWriters", "TestManyWriters"}, edits: one("lock.go", `	name := path + lockSuffix`, `	if path != "" {
		return func() {}, nil
	}
	name := path + lockSuffix`)},
	twin{name: "cmd/bloom: a lock without a name is one", slow: true, tests: []string{"TestManyWriters"}, edits: one("lock.go", `err == nil && os.SameFile(ours, named) {`, `true || os.SameFile(ours, named) || err == nil {`)},
	twin{name: "cmd/bloom: errors with control characters", tests: []string{"TestNothingMovesTheTerminal"}, edits: one("text.go", `		if r == '\n' || strconv.IsPrint(r) {`, `		if r != 0 || strconv.IsPrint(r) {`)},
	twin{name: "cmd/bloom: numbers that are rounded", tests: []string{"TestFlagValues"}, edits: one("flags.go", `	*c = count(x.Num().Uint64())`, `	*c = count(near)`)},
)
