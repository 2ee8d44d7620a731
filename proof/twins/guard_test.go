package twins

// A guard that says no too early, at the wrong time, or after the wrong crash.
var guardTwins = in("guard",
	twin{name: "guard: a put adds its keys when they are visible", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: []edit{
		{file: "guard.go", old: "	if s.next.add(keys) {\n", new: "	err := store()\n	if s.next.add(keys) {\n"},
		{file: "guard.go", old: "	return store()\n", new: "	return err\n"},
	}},
	twin{name: "guard: a put does not add to the filter that is being built", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("guard.go", "	if s.next.add(keys) {\n", "	if false {\n")},
	twin{name: "guard: a put leaves before its keys are visible", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("guard.go", "	defer s.puts.leave() // also if store panics\n", "	s.puts.leave()\n")},
	twin{name: "guard: a put does not look whether its state is still the one", tests: []string{"TestSwapsUnderLoad"}, edits: enterSlowly("if true || g.state.Load() == s {")},
	twin{name: "guard: in slow motion", right: true, slow: true, tests: []string{"TestSwapsUnderLoad"}, edits: enterSlowly("if g.state.Load() == s {")},
	twin{name: "guard: a build does not wait for puts", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("build.go", `g.retired[0].wait(ctx)`, `ctx.Err()`)},
	twin{name: "guard: a build does not wait for puts, in time", slow: true, tests: []string{"TestBuildWaitsForPuts"}, edits: one("build.go", `g.retired[0].wait(ctx)`, `ctx.Err()`)},
	twin{name: "guard: a build waits only for puts in the last state", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("build.go", `	for len(g.retired) > 0 {`, `	for g.retired = g.retired[len(g.retired)-1:]; len(g.retired) > 0; {`)},
	twin{name: "guard: a filter is asked before the list has ended", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("build.go", `	if err := g.list(ctx, l, since); err != nil {`, `	g.publish(newState(l, nil))
	if err := g.list(ctx, l, since); err != nil {`)},
	twin{name: "guard: a build that has failed counts", tests: []string{"TestErrors"}, edits: one("build.go", `	if err := g.list(ctx, l, since); err != nil {
		return err
	}`, `	err = g.list(ctx, l, since)`)},
	twin{name: "guard: a list that is cut short by its context", tests: []string{"TestCancelledStore"}, edits: one("build.go", `	return ctx.Err() //`, `	return nil //`)},
	twin{name: "guard: after a crash it does not catch up", tests: []string{"TestLife"}, edits: one("build.go", `range g.store.Keys(ctx, since) {`, `range g.store.Keys(ctx, since) {
		if since != nil {
			break
		}`)},
	twin{name: "guard: a position that comes too early", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: []edit{
		{file: "file.go", old: `		l := g.state.Load().current
		if l`, new: `		position, err := g.store.Position(ctx)
		l := g.state.Load().current
		if l`},
		{file: "file.go", old: `		position, err := g.store.Position(ctx)
		if err`, new: `		if err`},
	}},
	twin{name: "guard: a position that comes too late", tests: []string{"TestNoFalseNoInEverySchedule"}, edits: one("file.go", `if g.state.Load().current == l {`, `if true {`)},
	twin{name: "guard: the old filter is kept", tests: []string{"TestOldFilterIsFreed"}, edits: []edit{
		{file: "state.go", old: "	idle   chan struct{}\n", new: "	idle   chan struct{}\n	state  *state\n"},
		{file: "build.go", old: `{ g.retired = append(g.retired, g.state.Swap(s).puts) }`, new: `{
	old := g.state.Swap(s)
	old.puts.state = old
	g.retired = append(g.retired, old.puts)
}`},
	}},
	twin{name: "guard: told twice that it is full", tests: []string{"TestFull"}, edits: one("guard.go", `l.told.CompareAndSwap(false, true)`, `true`)},
	twin{name: "guard: not told of a filter that was full when its build ended", tests: []string{"TestFull"}, edits: one("build.go", "	g.tell(l)\n", "")},
	twin{name: "guard, file: the checksum of the header", tests: []string{"TestDamage"}, edits: one("file.go", `got != sum {`, `false && got != sum {`)},
	twin{name: "guard, file: bytes after the end", tests: []string{"TestDamage"}, edits: one("file.go", `	case n > 0:`, `	case n > 1:`)},
	twin{name: "guard: a call that counts for too few", tests: []string{"TestTally"}, edits: one("counts.go", `n.Add(weight)`, `n.Add(weight / 2)`)},
	twin{name: "guard, list: a bad file replaces the list", tests: []string{"TestListUnderLoad", "TestList"}, slow: true, edits: one("list.go", `	if err != nil {
		if errors.As`, `	if f == nil {
		f = bloom.MustNew(1, 0.5)
	}
	if l.filter.Load() != nil {
		l.filter.Store(f)
	}
	if err != nil {
		if errors.As`)},
	twin{name: "guard, list: what the disk could not read is not read again", tests: []string{"TestListIsReadAgainAfterItCouldNotBe"}, edits: one("list.go", "			l.seen = sight{} // the disk's", "			// the disk's")},
	twin{name: "guard: not told of a late put", tests: []string{"TestFullByALatePut"}, edits: one("guard.go", "		g.tell(s.next) //", "		//")},
	twin{name: "guard, list: the time of a new file is believed", tests: []string{"TestList"}, edits: one("list.go", `const settle = 3 * time.Second`, `const settle = -24 * time.Hour`)},
	twin{name: "guard, list: only a new file is seen, not a changed one", tests: []string{"TestList", "TestListIsNotReadAgain"}, edits: one("list.go", ` && s.info.Size() == info.Size() &&
		s.info.ModTime().Equal(info.ModTime()) && s.read.Sub(info.ModTime()) >= settle`, ``)},
	twin{name: "guard, list: a bad file is forgotten", tests: []string{"TestListIsNotReadAgain"}, edits: one("list.go", `		return false, l.err
	}
	l.seen`, `		return false, nil
	}
	l.seen`)},
)

// enterSlowly lets other goroutines go on between the load of the state and the second
// look, which is the condition.
func enterSlowly(condition string) []edit {
	return []edit{
		{file: "state.go", old: "import (\n", new: "import (\n	\"runtime\"\n"},
		{file: "state.go", old: "		s := g.state.Load()\n		s.puts.inside.Add(1)\n		if g.state.Load() == s {", new: "		s := g.state.Load()\n		yield()\n		s.puts.inside.Add(1)\n		" + condition},
		{file: "state.go", old: "// A layer is", new: `func yield() {
	for range 10 {
		runtime.Gosched()
	}
}

// A layer is`},
	}
}
