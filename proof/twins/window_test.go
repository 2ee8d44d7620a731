package twins

// What the filters of one key in Redis have in common.
var oneKeyTwins = []twin{
	{name: "onekey: a count that was seen is not kept", in: "redisfilter/growing", tests: []string{"TestRollback"}, edits: one("redisfilter/internal/onekey/life.go", `		if math.Float64frombits(before) >= count || s`, `		if math.Float64frombits(before) >= 0*count || s`)},
	{name: "onekey: the first adds wait for the slot beyond their context", in: "redisfilter/window", slow: true, tests: []string{"TestFirstAddsKeepTheirContext"}, edits: one("redisfilter/internal/onekey/life.go", `	case <-ctx.Done():
`, `	case <-context.Background().Done():
`)},
}

// A filter in Redis that forgets.
var windowTwins = in("redisfilter/window",
	twin{name: "window: time goes back with the clock", tests: []string{"TestExactModel"}, edits: one("script.go", `  gen = latest
elseif gen > latest then moved = true end`, `end
if gen ~= latest then moved = true end`)},
	twin{name: "window: a clock that was far ahead is waited for", slow: true, tests: []string{"TestClock"}, edits: one("script.go", `if gen < latest - GENERATIONS then`, `if false then`)},
	twin{name: "window: the latest generation is not kept", slow: true, tests: []string{"TestExactModel"}, edits: one("script.go", `if moved then call('SETRANGE', K, ARGV[1], pk('<dd', gen, shift)) end`, ``)},
	twin{name: "window: a command that is sent again is executed again", tests: []string{"TestLostReplies"}, edits: one("script.go", `if last == number then`, `if false then`)},
	twin{name: "window: a command that comes late is executed", slow: true, tests: []string{"TestLateCommand"}, edits: one("script.go", `if last > number then return refuse('PAST') end`, ``)},
	twin{name: "window: an older value is taken for the latest", tests: []string{"TestRollback"}, edits: one("script.go", `if count < tonumber(ARGV[8]) then`, `if false then`)},
	twin{name: "window: the slot of another handle is as good", slow: true, tests: []string{"TestSlots"}, edits: one("script.go", `  if sub(slot, 1, 8) ~= ARGV[7] then return refuse('TAKEN') end
`, ``)},
	twin{name: "window: the newest slot is taken away, not the oldest", slow: true, tests: []string{"TestSlots"}, edits: one("script.go", `used < oldest then at`, `used > oldest then at`)},
	twin{name: "window: who only asks loses its slot", slow: true, tests: []string{"TestSlots"}, edits: one("script.go", `if used and ms - used > 10000 then`, `if false then`)},
	twin{name: "window: a value made anew is taken for the same", tests: []string{"TestLost"}, edits: one("script.go", `if sub(tail, 17) ~= ARGV[3] then`, `if sub(tail, 17) == '' then`)},
	twin{name: "window: forgotten a generation early", tests: []string{"TestExactModel"}, edits: one("script.go", `for age = gen - stamp, GENERATIONS do`, `for age = gen - stamp, GENERATIONS - 1 do`)},
	twin{name: "window: what has ended is not cleared", tests: []string{"TestExactModel"}, edits: one("script.go", `elseif g > stamp then r[q + 2] = rep('\0', 64)`, `elseif false then r[q + 2] = ''`)},
	twin{name: "window: what has ended is asked for", slow: true, tests: []string{"TestExactModel"}, edits: one("script.go", `for age = gen - stamp, GENERATIONS do`, `for age = 0, GENERATIONS do`)},
	twin{name: "window: a generation that is rounded down", slow: true, tests: []string{"TestInfoAndCounts"}, edits: one("options.go", `p.window/each + min(p.window%each, 1)`, `p.window / each`)},
	twin{name: "window: generations have the rate of the whole", slow: true, tests: []string{"TestRate"}, edits: one("options.go", `rate := p.p / float64(p.generations+1)`, `rate := p.p`)},
	twin{name: "window: replicas are not waited for", slow: true, tests: []string{"TestReplica"}, edits: one("add.go", `			err = f.key.Sender.Confirmed(command)
`, ``)},
	twin{name: "window: what may have been added is said not to be", slow: true, tests: []string{"TestCanceled"}, edits: one("add.go", `			return "", false, true, send.Explain(f.key.Name, err)`, `			return "", false, false, send.Explain(f.key.Name, err)`)},
	twin{name: "window: who joins takes the default strategy", slow: true, tests: []string{"TestJoin"}, edits: one("window.go", `	o.bloom = onekey.Named(h.text, o.bloom)`, `	o.bloom = onekey.Named("", o.bloom)`)},
)
