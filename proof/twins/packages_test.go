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
	twin{name: "scalable: the winner does not look for newer layers", tests: []string{"TestRivalInTheMiddle"}, edits: one("add.go", `		if f.layers.Load() == now {`, `		if f.layers.Load() == now || true {`)},
	twin{name: "scalable: a birth is forgotten, and the key added again", tests: []string{"TestBirthInTheMiddle"}, edits: one("add.go", `		looked = len(*now)`, `		looked = 0`)},
	twin{name: "scalable: only the newest layer is asked", tests: []string{"TestAgainstExactModel"}, edits: one("add.go", `now.contains(h1, h2, looked)`, `now.contains(h1, h2, len(*now)-1)`)},
	twin{name: "scalable: the oldest layer is not asked", slow: true, tests: []string{"TestAgainstExactModel"}, edits: one("scalable.go", `f.layers.Load().contains(h1, h2, 0)`, `f.layers.Load().contains(h1, h2, 1)`)},
	twin{name: "scalable: a ticket is not given back", tests: []string{"TestTicketsComeBack"}, edits: one("add.go", `			l.tickets.Give()`, `			_ = l`)},
	twin{name: "scalable: two layers are born at once", slow: true, tests: []string{"TestGrowsOnce"}, edits: []edit{{file: "add.go", old: `	if f.layers.Load() != now {
		return nil
	}
	if full`, new: `	if full`}, {file: "add.go", old: `	if f.layers.Load() != now || f.full.Load() != nil {
		return f.full.Load()
	}
`, new: `	now = f.layers.Load()
`}}},
	twin{name: "scalable: all layers have the same rate", tests: []string{"TestPlan"}, edits: one("options.go", `p / (float64(i+1) * float64(i+2))`, `p / 2`)},
	twin{name: "scalable: a layer too many", tests: []string{"TestFull"}, edits: one("scalable.go", `limit > 0 && i >= limit`, `limit > 0 && i > limit`)},
	twin{name: "scalable: the limit in bytes is for one layer", slow: true, tests: []string{"TestFull"}, edits: one("scalable.go", `older.bytes()+scheme.SizeBytes()`, `0*older.bytes()+scheme.SizeBytes()`)},
	twin{name: "scalable: a full filter says that the key was there", tests: []string{"TestFull"}, edits: one("add.go", `		if noRoom && looked == 0 {
			return false, full`, `		if noRoom && looked == 0 {
			return false, nil`)},
	twin{name: "scalable: right, in slow motion", right: true, tests: []string{"TestFullInLockstep", "TestOneWinnerInLockstep"}, edits: scalableSlowMotion()},
	twin{name: "scalable: full as soon as there is no ticket", tests: []string{"TestFullInLockstep"}, edits: scalableSlowMotion(edit{file: "add.go", old: `				case newest.tickets.UsedUp():
					full.usedUp.Store(true)
				case waited == maxWait:`, new: `				case waited >= 0:`})},
	twin{name: "scalable: full while an add is under way", slow: true, tests: []string{"TestFullInLockstep"}, edits: scalableSlowMotion(edit{file: "add.go", old: `				case newest.tickets.UsedUp():`, new: `				case newest.tickets.Left() == 0:`})},
	twin{name: "scalable, decoder: a layer that is not of the plan", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", `!close(got.P, rate) {`, `false {`)},
	twin{name: "scalable, decoder: more keys than a layer is for", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", `	if left > b.Params().N {`, `	if false {`)},
	twin{name: "scalable, decoder: layers of another seed", tests: []string{"TestForgedNumbers"}, edits: one("encoding.go", ` || b.Scheme().Seed() != first.Seed()`, ``)},
	twin{name: "scalable: what is in the file is not used for layers to come", tests: []string{"TestGrowsOnAfterRead"}, edits: one("encoding.go", `append(optionsOf(f.scheme), wanted.bloom...)`, `wanted.bloom`)},
	twin{name: "scalable, encoder: as if each layer were new", tests: []string{"TestGrowsOnAfterRead"}, edits: one("encoding.go", `out.Numbers(min(l.tickets.Left(), l.Params().N))`, `out.Numbers(l.Params().N)`)},
)

// scalableSlowMotion lets other goroutines go on between an add's ticket and its bits.
func scalableSlowMotion(edits ...edit) []edit {
	return append(edits, edit{file: "add.go", old: `	won = l.AddDigest(h1, h2)`, new: `	yield()
	won = l.AddDigest(h1, h2)`}, edit{file: "add.go", old: `// An add takes some nanoseconds`, new: `func yield() { runtime.Gosched() }

// An add takes some nanoseconds`})
}

var rotatingTwins = in("rotating",
	twin{name: "rotating: the winner does not look for newer layers", tests: []string{"TestRivalInTheMiddle"}, edits: one("add.go", `	if f.live.Load() == now {
		a.won = true`, `	if f.live.Load() == now || true {
		a.won = true`)},
	twin{name: "rotating: an add is lost with its layer", tests: []string{"TestTurnInTheMiddle"}, edits: one("add.go", `	a.looked = newest.serial + 1
	return false`, `	a.looked = newest.serial + 1
	a.won = true
	return true`)},
	twin{name: "rotating: who enters does not look again", tests: []string{"TestTurnInTheMiddle"}, edits: one("add.go", `	if f.live.Load() != now {
		visit.Leave()
		return false
	}`, ``)},
	twin{name: "rotating: an add goes on for as long as it is overtaken", hangs: true, tests: []string{"TestOvertakenAgainAndAgain"}, edits: one("add.go", `	for range patience {`, `	for {`)},
	twin{name: "rotating: who insists does not hold births back", tests: []string{"TestOvertakenAgainAndAgain"}, edits: one("add.go", `	f.turning.Lock()
	defer f.turning.Unlock()
`, ``)},
	twin{name: "rotating: the clock is read again and again", hangs: true, tests: []string{"TestClockThatSteps"}, edits: one("add.go", `	for range patience {
`, `	for {
		a.generation = f.time.generation()
`)},
	twin{name: "rotating: a layer is cleared while someone is inside", tests: []string{"TestTurnInTheMiddle"}, edits: one("turn.go", `		if !l.tickets.Idle() {`, `		if false {`)},
	twin{name: "rotating: a layer is used again as it was", tests: []string{"TestAgainstExactModel"}, edits: one("turn.go", `		l.Clear()
`, ``)},
	twin{name: "rotating: a layer is used again without tickets", tests: []string{"TestTurnInTheMiddle"}, edits: one("turn.go", `		l.tickets.Refill(keys)
`, ``)},
	twin{name: "rotating: forgotten a generation early", tests: []string{"TestWindow", "TestAgainstExactModel"}, edits: one("rotating.go", `e.generation < oldest ||`, `e.generation <= oldest ||`)},
	twin{name: "rotating: forgotten a generation late", tests: []string{"TestWindow"}, edits: one("rotating.go", `e.generation < oldest ||`, `e.generation < oldest-1 ||`)},
	twin{name: "rotating: a generation is cleared early", slow: true, tests: []string{"TestAgainstExactModel"}, edits: one("turn.go", `.generation < g-int64(f.plan.generations) {`, `.generation <= g-int64(f.plan.generations) {`)},
	twin{name: "rotating: idle time does not forget", tests: []string{"TestWindow"}, edits: one("rotating.go", `return max(g, l.newest().generation)`, `return min(g, l.newest().generation+1)`)},
	twin{name: "rotating: a lookup does not follow a key that is renewed", tests: []string{"TestFollow"}, edits: one("contains.go", `	return f.live.Load() != now && f.follow(h1, h2, oldest)`, `	return false`)},
	twin{name: "rotating: a lookup follows only to the layers of its beginning", tests: []string{"TestFollow"}, edits: one("contains.go", `		next = now.newest().serial + 1`, `		return false`)},
	twin{name: "rotating: years overflow", tests: []string{"TestClocks"}, edits: one("clock.go", `since == math.MaxInt64 {`, `since == math.MinInt64 {`)},
	twin{name: "rotating: years overflow between writing and reading", tests: []string{"TestClocks"}, edits: one("clock.go", `	hi, lo := bits.Mul64(uint64(to.Unix())-uint64(from.Unix()), uint64(time.Second))`, `	hi, lo := bits.Mul64(0, 0)
	lo = uint64(to.Sub(from).Truncate(time.Second))`)},
	twin{name: "rotating: a clock before its beginning", tests: []string{"TestClockGoesBack"}, edits: one("clock.go", `	if since <= 0 {
		return t.at.generation
	}
`, ``)},
	twin{name: "rotating: Renew only looks", tests: []string{"TestRenew"}, edits: one("add.go", `found >= 0 && !a.renew
`, `found >= 0
`)},
	twin{name: "rotating: a generation that is rounded down", tests: []string{"TestWindow"}, slow: true, edits: one("options.go", `	return p.window/g + min(p.window%g, 1)`, `	return p.window / g`)},
	twin{name: "rotating: each layer may err at p", tests: []string{"TestAgainstExactModel"}, edits: one("options.go", `p.p/float64(p.maxLayers())`, `p.p*0.9999+p.p/float64(p.maxLayers())*1e-4`)},
	twin{name: "rotating: the limit in bytes is for one layer", tests: []string{"TestMaxBytes"}, edits: one("rotating.go", `limit/uint64(p.allLayers()) {`, `limit {`)},
	twin{name: "rotating, encoder: the time in the file", tests: []string{"TestTimePassesInTheFile"}, edits: one("encoding.go", `.after(wrote, f.time.start, length)`, `.after(wrote, wrote, length)`)},
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
	twin{name: "counting: the limit in bytes is for bits", tests: []string{"TestMaxBytes"}, edits: one("counting.go", `bytes > limit {`, `bytes > limit && bytes/4 > limit {`)},
	twin{name: "counting, decoder: bits of different filters", tests: []string{"TestWhatCannotBeWrittenOrRead"}, edits: one("encoding.go", `		if j > 0 && (`, `		if j > 4 && (`)},
)

// What the files of all three have around the filters.
var frameTwins = []twin{
	{name: "frame: the checksum of the numbers", in: "scalable", tests: []string{"TestGolden"}, edits: one("internal/frame/reader.go", `!bytes.Equal(got, want) {`, `false && !bytes.Equal(got, want) {`)},
	{name: "frame: filters are not bound together", in: "counting", tests: []string{"TestMixedSnapshots", "TestCopies"}, edits: []edit{
		{file: "internal/frame/reader.go", old: `	r.sum.Add(r.tail.bytes[:])`, new: ``},
		{file: "internal/frame/writer.go", old: `		w.sum.Add(w.tail.bytes[:])`, new: ``}}},
	{name: "frame: another version", in: "counting", tests: []string{"TestGolden"}, edits: one("internal/frame/reader.go", `	case string(got) == magic:`, `	case string(got[:last]) == magic[:last]:`)},
}

// What the layers of scalable and rotating count their keys with.
var ticketTwins = in("internal/tickets",
	twin{name: "tickets: they move while they are counted", long: true, tests: []string{"TestLeftIsNeverTooMany"}, edits: ticketsInSlowMotion(edit{file: "tickets.go", old: `	b.moving.Lock()
	defer b.moving.Unlock()
	sum := b.given.Load()
`, new: `	sum := b.given.Load()
	yield()
`})},
	twin{name: "tickets: what is given back is counted twice", long: true, tests: []string{"TestLeftIsNeverTooMany"}, edits: ticketsInSlowMotion(edit{file: "tickets.go", old: `	sum := b.given.Load()
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	return`, new: `	sum := int64(0)
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	sum += b.given.Load()
	return`})},
	twin{name: "tickets: right, in slow motion", right: true, tests: []string{"TestLeftIsNeverTooMany", "TestNoTicketTwice"}, edits: ticketsInSlowMotion()},
	twin{name: "tickets: used up when all are taken", tests: []string{"TestUsedUp"}, edits: one("tickets.go", `	return uint64(used) == b.size`, `	return uint64(used) == b.size || b.Left() == 0`)},
)

// ticketsInSlowMotion lets other goroutines go on while tickets move.
func ticketsInSlowMotion(edits ...edit) []edit {
	return append(edits,
		edit{file: "tickets.go", old: `// New returns a box of n tickets.`, new: `var yields atomic.Uint32

func yield() {
	if yields.Add(0x9e3779b9)>>30 == 0 {
		runtime.Gosched()
	}
}

// New returns a box of n tickets.`},
		edit{file: "tickets.go", old: `				own.left.Add(half - 1)`, new: `				yield()
				own.left.Add(half - 1)`},
		edit{file: "tickets.go", old: `		sum += b.cells[i].left.Load()`, new: `		sum += b.cells[i].left.Load()
		yield()`},
		edit{file: "tickets.go", old: `func (c *cell) take() bool {`, new: `func (c *cell) take() bool {
	yield()`},
		edit{file: "tickets.go", old: `		own.left.Add(given - 1)`, new: `		yield()
		own.left.Add(given - 1)`})
}

// A stranger's files in the formats of others.
var interopTwins = append(in("interop/guava",
	twin{name: "Guava's decoder: another strategy", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case int(ordinal) >= len(strategies):`, `	case int(ordinal) >= len(strategies) && func() bool { ordinal = 1; return false }():`)},
	twin{name: "Guava's decoder: k = 0", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case k == 0:`, `	case k == 0 && func() bool { k = 1; return false }():`)},
	twin{name: "Guava's decoder: a negative length", tests: []string{"TestReadRefuses"}, edits: one("format.go", `	case words == 0 || words > math.MaxInt32:`, `	case words == 0 || words > math.MaxUint32:`)},
	twin{name: "Guava's encoder: in the other byte order", tests: []string{"TestGolden"}, edits: []edit{{file: "../internal/wire/wire.go", old: `				buf = binary.BigEndian.AppendUint64(buf, next[i].Load())`, new: `				buf = binary.LittleEndian.AppendUint64(buf, next[i].Load())`}}},
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
	twin{name: "a FIFO is waited for", tests: []string{"TestSpecialFilesAreRefused"}, hangs: true, edits: one("../internal/regular/open_unix.go", `flag|syscall.O_NONBLOCK`, `flag`)},
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

// slowLock has a Save that saw no file wait for one before it wants the lock, so that
// what comes in between does not depend on luck. Nobody else waits.
func slowLock() []edit {
	return []edit{
		{file: "files_locked.go", old: `import (`, new: `import ("runtime/debug"; "strings"; "time"`},
		{file: "files_locked.go", old: `	f, made, err := openUnfinished(`, new: `	if old == nil && strings.Contains(string(debug.Stack()), "persist.save(") {
		for range 200 {
			if _, err := os.Lstat(path); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	f, made, err := openUnfinished(`},
	}
}

// More than one machine. These need a redis-server.
var redisTwins = in("redisfilter",
	twin{name: "redisfilter: a loss is not noticed", tests: []string{"TestLossIsNoticed", "TestRecreationIsNoticed"}, edits: one("answer.go", `	case p.slot == nil && number != p.life.epoch, p.slot != nil && ownerOf(number) != ownerOf(p.least):`, `	case false:`)},
	twin{name: "redisfilter: the client retries adds", tests: []string{"TestCutReplies"}, edits: one("internal/send/send.go", `func (OnceInts) NoRetry() bool { return true }`, `func (OnceInts) NoRetry() bool { return false }`)},
	twin{name: "redisfilter: what may have been added is said not to be", tests: []string{"TestCutReplies"}, edits: one("answer.go", `	case p.command == nil || p.refused:`, `	case p.command == nil || p.refused || true:`)},
	twin{name: "redisfilter: bits in Redis's own order", tests: []string{"TestSameAsLocal"}, edits: one("command.go", `at(headerBits+pos^7), argOne)`, `at(headerBits+pos), argOne)`)},
	twin{name: "redisfilter: an older value is taken for the latest", tests: []string{"TestOneLostAddIsNoticed"}, edits: one("slot.go", `	if number < least {`, `	if number < least-1 {`)},
	twin{name: "redisfilter: an orphan is taken for somebody else's", tests: []string{"TestEveryCut"}, edits: one("header.go", `bytes.Equal(b[:headerBytes], orphan)`, `false`)},
	twin{name: "redisfilter: a key that is there is replaced", tests: []string{"TestOnlyRuinsAreReplaced"}, edits: one("life.go", `pipe.Do(ctx, "RENAMENX", beside, key)`, `pipe.Do(ctx, "RENAME", beside, key)`)},
	twin{name: "redisfilter: the front learns what it has asked for", tests: []string{"TestFrontIsASubset"}, edits: one("answer.go", `p.life.front.learn(p.words[j].index, have)`, `p.life.front.learn(p.words[j].index, p.words[j].mask)`)},
	twin{name: "redisfilter: who joins takes the default hash", tests: []string{"TestJoin"}, edits: one("internal/identity/identity.go", `			named = append(named, bloom.WithStrategy(s))
		}
	}
	if hash`, `			named = append(named, bloom.WithStrategy(s))
		}
	}
	rest = ""
	if hash`)},
	twin{name: "redisfilter: who joins with a key has a hash beside it", tests: []string{"TestJoin"}, edits: one("internal/identity/identity.go", ` && !keyed(opts) {`, ` && (true || !keyed(opts)) {`)},
	twin{name: "redisfilter: other parameters", tests: []string{"TestParametersAreChecked"}, edits: []edit{
		{file: "life.go", old: `	case h.m != want.m || h.k != want.k || h.shards != want.shards || h.slots != want.slots:`, new: `	case false:`},
		{file: "life.go", old: `	case h.fingerprint != want.fingerprint:`, new: `	case false:`},
	}},
	twin{name: "redisfilter: replicas are not waited for", tests: []string{"TestReplicaCutOff"}, edits: one("internal/send/add.go", `got < int64(s.Replicas):`, `got < 0*int64(s.Replicas):`)},
)

var growingTwins = in("redisfilter/growing",
	twin{name: "growing: the older layers are not asked by adds", tests: []string{"TestExactModel", "TestSameAsScalable"}, edits: one("script.go", `    while p < next do`, `    while false do`)},
	twin{name: "growing: a layer takes more keys than it is for", slow: true, tests: []string{"TestSameAsScalable", "TestRate", "TestLimit"}, edits: one("script.go", `    if not (left >= 1) then break end
`, ``)},
	twin{name: "growing: who knows fewer layers adds to an old one", tests: []string{"TestExactModel"}, edits: []edit{{file: "script.go", old: `if layers > want then return refuse('MORE ' .. string.format('%.0f', layers)) end
`, new: ``}, {file: "script.go", old: `if layers == want then`, new: `if layers >= want then`}}},
	twin{name: "growing: who asks does not hear of a new layer", slow: true, tests: []string{"TestExactModel"}, edits: one("contains.go", `if err != nil || now == count {`, `if true {`)},
	twin{name: "growing: a full layer is opened again", tests: []string{"TestProcesses", "TestOneWinner"}, slow: true, edits: one("script.go", `if layers < want then
  call(`, `if layers <= want and left == 0 then
  call(`)},
	twin{name: "growing: an older value is taken for the latest, by adds", slow: true, tests: []string{"TestRollback"}, edits: one("script.go", `if count < tonumber(ARGV[5]) then`, `if false then`)},
	twin{name: "growing: an older value is taken for the latest, by lookups", tests: []string{"TestRollback"}, edits: one("contains.go", `case s != nil && !(double(values[3]) >= least), now < uint64(len(layers)):`, `case s != nil && !(double(values[3]) >= 0*least), now < uint64(len(layers)):`)},
	twin{name: "growing: a value that is cut short is added to", slow: true, tests: []string{"TestLost"}, edits: one("script.go", `  if call('GETRANGE', K, ARGV[7], ARGV[8]) ~= epoch then return refuse('GONE') end
`, ``)},
	twin{name: "growing: the limit in bytes is not kept", slow: true, tests: []string{"TestLimit"}, edits: one("add.go", `		limit = f.limit
`, ``)},
	twin{name: "growing: what may have been added is said not to be", slow: true, tests: []string{"TestCutReplies"}, edits: one("add.go", `		r := result{fate: unknown}
`, `		r := result{}
`)},
	twin{name: "growing: a shorter value that is whole is taken for a cut one", slow: true, tests: []string{"TestRollbackWhileOpening"}, edits: one("script.go", ` or struct.unpack('<d', head, 33) ~= tonumber(ARGV[4]) then`, ` then`)},
	twin{name: "growing: a layer is opened after other writes", tests: []string{"TestScripts"}, edits: one("script.go", `if layers < want then
  call(`, `if layers < want then
  call('SETRANGE', K, 48, pk('<d', want))
  call(`)},
)

// Exact lists.
var cascadeTwins = in("cascade",
	twin{name: "cascade: one digest for all levels", tests: []string{"TestLevelsShrinkByHalf"}, edits: one("cascade.go", `	if i == 0 {
		return h1, h2
	}`, `	if i >= 0 {
		return h1, h2
	}`)},
	twin{name: "cascade: the last level is not asked", tests: []string{"TestExactForBothLists"}, edits: one("cascade.go", `	for i, f := range c.filters {
		if !f.ContainsDigest(level(h1, h2, i)) {`, `	for i, f := range c.filters[:max(0, len(c.filters)-1)] {
		if !f.ContainsDigest(level(h1, h2, i)) {`)},
	twin{name: "cascade: ContainsMany takes all levels for those of keys that are in", tests: []string{"TestContainsMany"}, edits: one("batch.go", `				b.Found[j] = i%2 == 1`, `				b.Found[j] = true`)},
	twin{name: "cascade: a batch of keys is lost", tests: []string{"TestExactForBothLists"}, edits: one("build.go", `	if err == nil && len(b.ends) > 0 {
		send()`, `	if err == nil && len(b.ends) > 1 {
		send()`)},
	twin{name: "cascade: a key in both lists", tests: []string{"TestConflictIsNamed"}, hangs: true, edits: one("build.go", `d, digest.compare); both {`, `d, digest.compare); both && false {`)},
	twin{name: "cascade, decoder: nothing binds the levels", tests: []string{"TestPartsAreBound"}, edits: one("encoding.go", `		if err := in.Numbers("the end"); err != nil {`, `		if err := in.Numbers("the end"); err == io.EOF {`)},
)

// Formats of other systems.
var formatTwins = []twin{
	{name: "rebloom: the first layer has all of the rate", in: "interop/rebloom", tests: []string{"TestAgainstRecordings"}, edits: one("interop/rebloom/rebloom.go", `	rate := p / 2`, `	rate := p`)},
	{name: "rebloom: the limit is for each layer", in: "interop/rebloom", tests: []string{"TestLimits"}, edits: one("interop/rebloom/rebloom.go", `	room := f.maxBytes - sizeOf(known)`, `	room := f.maxBytes`)},
	{name: "rebloom: a chunk is lost", in: "interop/rebloom", tests: []string{"TestDamagedChunks"}, edits: one("interop/rebloom/chunks.go", `	case len(r.shapes) > 0:`, `	case len(r.shapes) > 1000:`)},
	{name: "bloomfilters: the cube is left out", in: "interop/bloomfilters", tests: []string{"TestGolden"}, edits: one("interop/bloomfilters/bloomfilters.go", `by.Remainder(h1 + n*h2 + (n*n*n-n)/6)`, `by.Remainder(h1 + n*h2)`)},
	{name: "parquet: the header is not checked", in: "interop/parquet", tests: []string{"TestReadRefuses"}, edits: one("interop/parquet/header.go", `		if choice != 1 {`, `		if choice > 100 {`)},
	{name: "parquet: another seed", in: "interop/parquet", tests: []string{"TestSmallFile"}, edits: one("interop/parquet/parquet.go", `return xxh64.Sum(0, key)`, `return xxh64.Sum(1, key)`)},
}

// The real code in every order of its operations.
var stepTwins = []twin{
	{name: "scalable: the winner does not look for newer layers, step by step", in: "proof/interleavings", tests: []string{"TestScalableInSteps"}, edits: one("scalable/add.go", `		if f.layers.Load() == now {`, `		if f.layers.Load() == now || true {`)},
	{name: "scalable: full while an add is under way, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestScalableInSteps"}, edits: one("scalable/add.go", `				case newest.tickets.UsedUp():`, `				case newest.tickets.Left() == 0:`)},
	{name: "rotating: the winner does not look for newer layers, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestRotatingInSteps"}, edits: one("rotating/add.go", `	if f.live.Load() == now {
		a.won = true`, `	if f.live.Load() == now || true {
		a.won = true`)},
	{name: "rotating: who enters does not look again, step by step", in: "proof/interleavings", tests: []string{"TestRotatingInSteps"}, edits: one("rotating/add.go", `	if f.live.Load() != now {
		visit.Leave()
		return false
	}`, ``)},
	{name: "rotating: a layer is cleared while someone is inside, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestRotatingInSteps"}, edits: one("rotating/turn.go", `		if !l.tickets.Idle() {`, `		if false {`)},
	{name: "rotating: a lookup does not follow a key that is renewed, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestRotatingInSteps"}, edits: one("rotating/contains.go", `	return f.live.Load() != now && f.follow(h1, h2, oldest)`, `	return false`)},
	{name: "guard: the last put out counts before it looks whether it is, step by step", in: "proof/interleavings", tests: []string{"TestGuardInSteps"}, edits: one("guard/state.go", `	if p.inside.Add(-1) == replaced {`, `	if p.inside.Add(-1)&^replaced == 0 && p.inside.Load() >= replaced {`)},
	{name: "guard: a put does not look again, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestGuardInSteps"}, edits: one("guard/state.go", `		if g.state.Load() == s {`, `		if true || g.state.Load() == s {`)},
	{name: "counting: one pass, step by step", in: "proof/interleavings", tests: []string{"TestCountingInSteps"}, edits: one("counting/counting.go", `	return last >= 0 && f.counters.up(positions[last]) == 0`, `	return last >= 0 && (f.counters.up(positions[last]) == 0 || true)`)},
	{name: "tickets: they move while they are counted, step by step", in: "proof/interleavings", tests: []string{"TestTicketsInSteps"}, edits: one("internal/tickets/tickets.go", `	b.moving.Lock()
	defer b.moving.Unlock()
	sum := b.given.Load()
`, `	sum := b.given.Load()
`)},
	{name: "tickets: what is given back is counted twice, step by step", in: "proof/interleavings", slow: true, tests: []string{"TestTicketsInSteps"}, edits: one("internal/tickets/tickets.go", `	sum := b.given.Load()
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	return`, `	sum := int64(0)
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	sum += b.given.Load()
	return`)},
}
