package twins

// in has the tests of twins that are in one package: those that break a file of it.
func in(folder string, list ...twin) []twin {
	for i := range list {
		list[i].in = folder
		for j := range list[i].edits {
			list[i].edits[j].file = folder + "/" + list[i].edits[j].file
		}
	}
	return list
}

// Filters that grow, forget and remove.
var scalableTwins = in("scalable",
	twin{name: "scalable: the winner does not look for newer layers", tests: []string{"TestRivalInTheMiddle"}, edits: one("scalable.go", `		if f.layers.Load() == now {`, `		if f.layers.Load() == now || true {`)},
	twin{name: "scalable: a birth is forgotten, and the key added again", tests: []string{"TestBirthInTheMiddle"}, edits: one("scalable.go", `		looked = len(*now)`, `		looked = 0`)},
	twin{name: "scalable: only the newest layer is asked", tests: []string{"TestAgainstExactModel"}, edits: one("scalable.go", `now.contains(h1, h2, looked)`, `now.contains(h1, h2, len(*now)-1)`)},
	twin{name: "scalable: the oldest layer is not asked", slow: true, tests: []string{"TestAgainstExactModel"}, edits: one("scalable.go", `f.layers.Load().contains(h1, h2, 0)`, `f.layers.Load().contains(h1, h2, 1)`)},
	twin{name: "scalable: a ticket is not given back", tests: []string{"TestTicketsComeBack"}, edits: one("scalable.go", `				newest.tickets.Give()`, `				_ = newest`)},
	twin{name: "scalable: two layers are born at once", slow: true, tests: []string{"TestGrowsOnce"}, edits: one("scalable.go", `	if f.layers.Load() != now {
		return nil
	}
	next, err := f.newLayer(*now)`, `	now = f.layers.Load()
	next, err := f.newLayer(*now)`)},
	twin{name: "scalable: all layers have the same rate", tests: []string{"TestPlan"}, edits: one("options.go", `p / (float64(i+1) * float64(i+2))`, `p / 2`)},
	twin{name: "scalable: a layer too many", tests: []string{"TestFull"}, edits: one("scalable.go", `limit > 0 && i >= limit`, `limit > 0 && i > limit`)},
	twin{name: "scalable: the limit in bytes is for one layer", slow: true, tests: []string{"TestFull"}, edits: one("scalable.go", `older.bytes()+scheme.SizeBytes()`, `0*older.bytes()+scheme.SizeBytes()`)},
	twin{name: "scalable: a full filter says that the key was there", tests: []string{"TestFull"}, edits: one("scalable.go", `				return false, err
			}
			// The key`, `				return false, nil
			}
			// The key`)},
	twin{name: "scalable, decoder: a layer that is not of the plan", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", `!close(got.P, rate) {`, `false {`)},
	twin{name: "scalable, decoder: more keys than a layer is for", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", `	if left > b.Params().N {`, `	if false {`)},
	twin{name: "scalable, decoder: layers of another hash", tests: []string{"TestWhatCannotBeWrittenOrRead"}, edits: one("encoding.go", `	if !sameDigest(b, f.hasher) ||`, `	if false && !sameDigest(b, f.hasher) ||`)},
	twin{name: "scalable, encoder: as if each layer were new", tests: []string{"TestGrowsOnAfterRead"}, edits: one("encoding.go", `out.Numbers(min(l.tickets.Left(), l.Params().N))`, `out.Numbers(l.Params().N)`)},
)

var rotatingTwins = in("rotating",
	twin{name: "rotating: the winner does not look for newer layers", tests: []string{"TestRivalInTheMiddle"}, edits: one("rotating.go", `		if f.live.Load() == now {
			return true
		}
		looked`, `		if f.live.Load() == now || true {
			return true
		}
		looked`)},
	twin{name: "rotating: an add is lost with its layer", tests: []string{"TestTurnInTheMiddle"}, edits: one("rotating.go", `		looked = newest.serial + 1`, `		looked = newest.serial + 1
		return true`)},
	twin{name: "rotating: who enters does not look again", tests: []string{"TestTurnInTheMiddle"}, edits: one("rotating.go", `		if f.live.Load() != now {
			visit.Leave()
			continue
		}`, ``)},
	twin{name: "rotating: a layer is cleared while someone is inside", tests: []string{"TestTurnInTheMiddle"}, edits: one("turn.go", `		if !l.tickets.Idle() {`, `		if false {`)},
	twin{name: "rotating: a layer is used again as it was", tests: []string{"TestAgainstExactModel"}, edits: one("turn.go", `		l.Clear()
`, ``)},
	twin{name: "rotating: a layer is used again without tickets", tests: []string{"TestTurnInTheMiddle"}, edits: one("turn.go", `		l.tickets.Refill(f.plan.layerKeys())
`, ``)},
	twin{name: "rotating: forgotten a generation early", tests: []string{"TestWindow", "TestAgainstExactModel"}, edits: one("rotating.go", `e.generation < oldest ||`, `e.generation <= oldest ||`)},
	twin{name: "rotating: forgotten a generation late", tests: []string{"TestWindow"}, edits: one("rotating.go", `e.generation < oldest ||`, `e.generation < oldest-1 ||`)},
	twin{name: "rotating: a generation is cleared early", slow: true, tests: []string{"TestAgainstExactModel"}, edits: one("turn.go", `.generation < g-int64(f.plan.generations) {`, `.generation <= g-int64(f.plan.generations) {`)},
	twin{name: "rotating: idle time does not forget", tests: []string{"TestWindow"}, edits: one("rotating.go", `	return max(int64(f.elapsed()/f.length), (*l)[len(*l)-1].generation)`, `	return min(int64(f.elapsed()/f.length), (*l)[len(*l)-1].generation+1)`)},
	twin{name: "rotating: Renew only looks", tests: []string{"TestRenew"}, edits: one("rotating.go", `found >= 0 && !renew {`, `found >= 0 {`)},
	twin{name: "rotating: a generation that is rounded down", tests: []string{"TestWindow"}, slow: true, edits: one("options.go", `	return p.window/g + min(p.window%g, 1)`, `	return p.window / g`)},
	twin{name: "rotating: each layer may err at p", tests: []string{"TestAgainstExactModel"}, edits: one("options.go", `p.p/float64(p.maxLayers())`, `p.p*0.9999+p.p/float64(p.maxLayers())*1e-4`)},
	twin{name: "rotating, encoder: the time in the file", tests: []string{"TestTimePassesInTheFile"}, edits: one("encoding.go", `	f.before += min(since, math.MaxInt64-f.before)`, `	_ = since`)},
	twin{name: "rotating, decoder: generations of the future", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", ` || int64(generation) > newest:`, `:`)},
	twin{name: "rotating, decoder: layers that do not fit each other", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", `	if len(older) > 0 && (`, `	if len(older) > 1<<20 && (`)},
)

// countingSlowMotion is slowMotion for counters.
func countingSlowMotion(edits ...edit) []edit {
	return append(edits,
		edit{file: "counters.go", old: `import "sync/atomic"`, new: `import (
	"runtime"
	"sync/atomic"
)

var yields atomic.Uint32

func yield() {
	if yields.Add(0x9e3779b9)>>30 == 0 {
		runtime.Gosched()
	}
}`},
		edit{file: "counters.go", old: `func (c counters) get(i uint64) uint64 {`, new: `func (c counters) get(i uint64) uint64 {
	yield()`},
		edit{file: "counters.go", old: `func (c counters) down(i uint64) uint64 {`, new: `func (c counters) down(i uint64) uint64 {
	yield()`})
}

var countingTwins = in("counting",
	twin{name: "counting: right, in slow motion", right: true, tests: []string{"TestOneWinnerInLockstep"}, edits: countingSlowMotion()},
	twin{name: "counting: one pass", tests: []string{"TestOneWinnerInLockstep"}, edits: countingSlowMotion(edit{file: "counting.go", old: `	return last >= 0 && f.counters.up(positions[last]) == 0`, new: `	return last >= 0 && (f.counters.up(positions[last]) == 0 || true)`})},
	twin{name: "counting: a count that is not atomic", tests: []string{"TestOneWinnerInLockstep"}, edits: countingSlowMotion(edit{file: "counters.go", old: `		if was == full || word.CompareAndSwap(old, old+1<<shift) {`, new: `		if was != full {
			yield()
			word.Store(old + 1<<shift)
		}
		if true {`})},
	twin{name: "counting: a full counter wraps", tests: []string{"TestCountersStopAtBothEnds", "TestFullStaysFull"}, edits: one("counters.go", `		if was == full || word`, `		if word`)},
	twin{name: "counting: a full counter is counted down", tests: []string{"TestCountersStopAtBothEnds", "TestFullStaysFull"}, edits: one("counters.go", `was == 0 || was == full ||`, `was == 0 ||`)},
	twin{name: "counting: a counter below 0", tests: []string{"TestCountersStopAtBothEnds"}, edits: one("counters.go", `was == 0 || was == full ||`, `was == full ||`)},
	twin{name: "counting: coinciding counters are counted twice", tests: []string{"TestRemoveTakesBackExactly"}, edits: one("counting.go", `			if pos == other {`, `			if pos == other && false {`)},
	twin{name: "counting: what was taken in vain is not put back", tests: []string{"TestRemovedTwice"}, edits: countingSlowMotion(edit{file: "counting.go", old: `				f.counters.up(undo)`, new: `				_ = undo`})},
	twin{name: "counting: an absent key is removed as far as it is there", tests: []string{"TestRemoveAbsent"}, edits: one("counting.go", `			return false
		}
	}
	for i, pos := range positions {
		if f.counters.down(pos) == 0 {`, `			continue
		}
	}
	for i, pos := range positions {
		if f.counters.down(pos) == 0 && i < 0 {`)},
	twin{name: "counting: the plain filter lacks a word", tests: []string{"TestSameAsPlain"}, edits: one("convert.go", `	for i := range f.counters {
		if set := gather`, `	for i := range f.counters[1:] {
		if set := gather`)},
	twin{name: "counting: the plain filter lacks counters of 2", slow: true, tests: []string{"TestWordTricks"}, edits: one("counters.go", `	word |= word >> 2
	return (word | word>>1) & lowest`, `	return (word | word>>2 | word>>3) & lowest`)},
	twin{name: "counting, encoder: the bits of a counter in the other order", tests: []string{"TestGolden"}, edits: one("encoding.go", `gather(word >> j & lowest)`, `gather(word >> (3 - j) & lowest)`)},
	twin{name: "counting, decoder: bits of different filters", tests: []string{"TestWhatCannotBeWrittenOrRead"}, edits: one("encoding.go", `		if j > 0 && (`, `		if j > 4 && (`)},
)

// What the files of all three have around the filters.
var frameTwins = []twin{
	{name: "frame: the checksum of the numbers", in: "scalable", tests: []string{"TestGolden"}, edits: one("internal/frame/frame.go", `got != r.sum {`, `false && got != r.sum {`)},
	{name: "frame: another version", in: "counting", tests: []string{"TestGolden"}, edits: one("internal/frame/frame.go", `	case string(got) == magic:`, `	case string(got[:last]) == magic[:last]:`)},
}

// A stranger's files in the formats of others.
var interopTwins = append(in("interop/guava",
	twin{name: "Guava's decoder: another strategy", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case int(ordinal) >= len(strategies):`, `	case int(ordinal) >= len(strategies) && func() bool { ordinal = 1; return false }():`)},
	twin{name: "Guava's decoder: k = 0", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case k == 0:`, `	case k == 0 && func() bool { k = 1; return false }():`)},
	twin{name: "Guava's decoder: a negative length", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case words == 0 || words > math.MaxInt32:`, `	case words == 0 || words > math.MaxUint32:`)},
	twin{name: "Guava's encoder: in the other byte order", tests: []string{"TestGolden"}, edits: []edit{{file: "../internal/wire/wire.go", old: `			buf = binary.BigEndian.AppendUint64(buf, next[i].Load())`, new: `			buf = binary.LittleEndian.AppendUint64(buf, next[i].Load())`}}},
	twin{name: "Guava's encoder: what Guava cannot have", tests: []string{"TestWriteRefuses"}, edits: one("format.go", `	if why := notGuava(s); why != "" {`, `	if why := notGuava(s); why == "\x00" {`)},
), in("interop/bitsandblooms",
	twin{name: "bits-and-blooms' decoder: m = 0", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case m == 0:`, `	case m == 0 && func() bool { m = 1; return false }():`)},
	twin{name: "bits-and-blooms' decoder: k = 0", tests: []string{"TestReadRefuses", "TestReadJSONRefuses"}, edits: one("format.go", `	case k == 0 || k > maxK:`, `	case k == 0 && func() bool { k = 1; return false }():`)},
	twin{name: "bits-and-blooms' decoder: fewer bits than m", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	if !holds(length, m) {`, `	if false {`)},
	twin{name: "bits-and-blooms' decoder: bits beyond m", tests: []string{"TestReadRefuses"}, edits: one("format.go", `last>>tail != 0 {`, `last>>tail == 1<<63 {`)},
	twin{name: "bits-and-blooms' decoder: bytes after the bits", tests: []string{"TestReadJSONRefuses"}, edits: one("format.go", `	if rest.Len() > 0 {`, `	if rest.Len() > 1<<20 {`)},
)...)

var persistTwins = in("persist",
	twin{name: "a mapped file that is made for other parameters", tests: []string{"TestOtherParameters"}, edits: one("open.go", `got.N != p.N || got.P != p.P {`, `false && got.N != p.N {`)},
	twin{name: "a mapped file with another hash", tests: []string{"TestOtherParameters"}, edits: one("open.go", `has != wants {`, `has == "" {`)},
	twin{name: "a mapped file that is cut short", tests: []string{"TestEveryTruncationAndHeaderBit"}, edits: one("open.go", `	if info.Size() != size {`, `	if info.Size() > size {`)},
	twin{name: "who comes second makes the file again", tests: []string{"TestCreationRace"}, edits: []edit{
		{file: "open.go", old: `	if file.replaces() != nil {`, new: `	if false {`},
		{file: "files_unix.go", old: `os.Link(`, new: `os.Rename(`}}},
	twin{name: "the right lock, in slow motion", right: true, tests: []string{"TestSaveRacesOpen"}, edits: slowLock()},
	twin{name: "what is replaced is looked at before the lock", tests: []string{"TestSaveRacesOpen"}, edits: append(one("files_locked.go", `t.unchanged(path); err != nil {`, `t.unchanged(path); err == errMade {`), slowLock()...)},
	twin{name: "Save replaces a mapped file", tests: []string{"TestSaveRacesOpen", "TestSaveRefuses"}, edits: one("save.go", `old != nil && isMapped(old) {`, `old != nil && isMapped(old) && false {`)},
	twin{name: "Save replaces what it has not seen", tests: []string{"TestSaveReplacesOnlyWhatItHasSeen"}, edits: one("files_unix.go", `f.checkReplaces(path); err != nil {`, `f.checkReplaces(path); err == errMade {`)},
	twin{name: "the temporary file is opened through a link", tests: []string{"TestSpecialUnfinishedFiles"}, edits: one("files_unix.go", `|os.O_CREATE|os.O_EXCL`, `|os.O_CREATE`)},
	twin{name: "a FIFO is waited for", tests: []string{"TestSpecialFilesAreRefused"}, hangs: true, edits: one("files_unix.go", `flag|unix.O_NONBLOCK`, `flag`)},
	twin{name: "a leftover is written to", tests: []string{"TestUnfinishedFileIsNotExposed", "TestNewFileIsAsOfCreate", "TestLinkedLeftover"}, edits: one("files_locked.go", `	if !made {`, `	if !made && false {`)},
	twin{name: "others read the file while it is written", tests: []string{"TestUnfinishedFileIsNotExposed"}, edits: one("files.go", `		return 0o600`, `		return 0o644`)},
	twin{name: "the permissions are not kept", tests: []string{"TestSavePermissions", "TestUnfinishedFileIsNotExposed"}, edits: one("files.go", `	return f.Chmod(old.Mode().Perm())`, `	return nil`)},
	twin{name: "the owner is not kept", slow: true, tests: []string{"TestOwnerIsKept"}, edits: one("files.go", `err := takeOwner(f.File, old); err != nil {`, `err := error(nil); err != nil {`)}, // run by root
	twin{name: "a read-only file is written to", tests: []string{"TestReadOnly"}, edits: one("file.go", `	if m == nil || m.readOnly {`, `	if m == nil {`)},
	twin{name: "a mapped file of a later version is taken for a damaged one", tests: []string{"TestLaterVersion"}, edits: one("header.go", `%w: the file has format version %d, want %d", bloom.ErrIncompatible`, `%w: the file has format version %d, want %d", bloom.ErrCorrupt`)},
	twin{name: "padding of a mapped file's header", tests: []string{"TestDamagedFile"}, edits: one("header.go", `			if page[i] != 0 {`, `			if page[i] != 0 && false {`)},
	twin{name: "Load hides from Read that it reads a file", tests: []string{"TestLoadMemory"}, edits: one("save.go", `bloom.Read(file, opts...)`, `bloom.Read(io.MultiReader(file), opts...)`)},
	twin{name: "a Sync whose file is closed under it", tests: []string{"TestCloseDoesNotWaitForSync"}, edits: one("sync.go", `	if f.syncs > 0 {`, `	if false {`)},
	twin{name: "a mapping that is unmapped at Close", tests: []string{"TestMappingOutlivesItsOperations"}, edits: one("sync.go", `	f.mapping.Store(nil)
`, `	_ = unmapFile(f.mapping.Load().data)
	f.mapping.Store(nil)
`)},
	twin{name: "a closed file goes on", tests: []string{"TestUseAfterClose"}, edits: one("sync.go", `	f.mapping.Store(nil)
`, ``)},
)

// slowLock has every other process that wants the lock look first and come late.
func slowLock() []edit {
	return []edit{
		{file: "files_locked.go", old: `import (`, new: `import ("sync/atomic"; "time"`},
		{file: "files_locked.go", old: `func tryCreate(`, new: `var turn atomic.Int64

func tryCreate(`},
		{file: "files_locked.go", old: `	f, made, err := openUnfinished(`, new: `	if turn.Add(1)%2 == 1 {
		time.Sleep(20 * time.Millisecond)
	}
	f, made, err := openUnfinished(`},
	}
}

// More than one machine. These need a redis-server.
var redisTwins = in("redisbloom",
	twin{name: "redisbloom: a loss is not noticed", tests: []string{"TestLossIsNoticed", "TestRecreationIsNoticed"}, edits: one("store.go", `replies[0] != p.life.epoch {`, `false && replies[0] != p.life.epoch {`)},
	twin{name: "redisbloom: the client retries adds", tests: []string{"TestCutReplies"}, edits: one("internal/send/send.go", `func (OnceInts) NoRetry() bool { return true }`, `func (OnceInts) NoRetry() bool { return false }`)},
	twin{name: "redisbloom: what may have been added is said not to be", tests: []string{"TestCutReplies"}, edits: one("store.go", `	if p.command == nil || p.refused {`, `	if p.command == nil || p.refused || true {`)},
	twin{name: "redisbloom: bits in Redis's own order", tests: []string{"TestSameAsLocal"}, edits: one("store.go", `		return headerBits + pos ^ 7`, `		return headerBits + pos`)},
	twin{name: "redisbloom: the front learns what it has asked for", tests: []string{"TestFrontIsASubset"}, edits: one("store.go", `			if set || add {`, `			if set || true {`)},
	twin{name: "redisbloom: other parameters", tests: []string{"TestParametersAreChecked"}, edits: []edit{
		{file: "life.go", old: `	case h.m != want.m || h.k != want.k || h.shards != want.shards:`, new: `	case false:`},
		{file: "life.go", old: `	case h.fingerprint != want.fingerprint:`, new: `	case false:`},
	}},
	twin{name: "redisbloom: replicas are not waited for", tests: []string{"TestReplicaCutOff"}, edits: one("internal/send/add.go", `got < int64(s.Replicas):`, `got < 0*int64(s.Replicas):`)},
)
