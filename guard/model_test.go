package guard

// The model of a guard: what guard.go, state.go, build.go and snapshot do to one key,
// one load, one store or one atomic operation a step, every interleaving tried. Two
// puts and two deletes of the key, three builds that may fail, a lookup, and a save,
// after which the process or the machine may stop at any moment.

// A rule is how they work; the real one is byTheBook.
type rule int

const (
	byTheBook     rule = iota
	storeFirst         // a put makes its key visible before it adds it
	noSecondLook       // a put does not look whether the state it entered is still the one
	addToCurrent       // a put adds only to the filter that is asked
	noWait             // a build does not wait for puts
	waitForLast        // a build waits only for puts in the state that it has replaced
	swapFirst          // a filter is asked before the list has ended
	positionEarly      // a save asks for the position before it chooses the filter
	positionLate       // a save does not look whether the filter is still the one
	bitsFirst          // a save looks at the bits before it asks for the position
)

const (
	modelStates = 7 // of three builds
	none        = int8(-1)
)

// world is a state of the model.
type world struct {
	current, next [modelStates]int8 // the filters of each state
	inside        [modelStates]int8 // puts in it
	now           int8              // the state that is published
	filters       int8              // how many there are
	has           uint8             // those that have the key

	log     uint8 // the changes of the key in the store, from bit 0: 1 a put, 0 a delete
	length  int8  // their number
	durable int8  // so many of them survive a failed machine
	deletes int8  // that are left
	builds  int8  // at most

	put    [2]putter
	build  builder
	lookup looker
	save   saver
}

type putter struct {
	at, state int8
	stored    bool // before it began
}

type builder struct {
	at, builds, waited int8
	listed             bool // the key was in the store since the list began
}

type looker struct {
	at, state int8
	absent    bool // it was not in the store at some moment of the lookup
	missed    bool // the answer is no
}

type saver struct {
	at, filter, position int8
	bits                 bool // the key is in the file
}

// What is done next.
const (
	start int8 = iota
	end

	atEnter // put: raise the count of the state
	atSecondLook
	atNext    // add to the filter that is being built
	atCurrent // and to the one that is asked
	atStore
	atLeave

	atWait // build: for puts
	atList
	atListed

	atLoad // lookup: load the state
	atAsk

	atPosition // save
	atStill    // is it still the filter that is asked?
	atBits
	saved
)

// present reports whether the key is in a store with the first n changes.
func (w *world) present(n int8) bool { return n > 0 && w.log>>(n-1)&1 == 1 }

func (w *world) change(put uint8) {
	w.log |= put << w.length
	w.length++
	if put == 0 {
		w.build.listed, w.lookup.absent = false, true
	}
}

func (w *world) hasKey(filter int8) bool { return filter != none && w.has>>filter&1 == 1 }

func (w *world) add(filter int8) {
	if filter != none {
		w.has |= 1 << filter
	}
}

func (w *world) publish(current, next int8) {
	w.now++
	w.current[w.now], w.next[w.now] = current, next
}

// stepPut advances a put and reports whether it could.
func (w *world) stepPut(r rule, i int) bool {
	p := &w.put[i]
	switch p.at {
	case start:
		if r == storeFirst && !p.stored {
			w.change(1)
			p.stored = true
			return true
		}
		p.state, p.at = w.now, atEnter
	case atEnter:
		w.inside[p.state]++
		p.at = atSecondLook
	case atSecondLook:
		p.at = atNext
		if p.state != w.now && r != noSecondLook {
			w.inside[p.state]--
			p.state, p.at = 0, start
		}
	case atNext:
		if r != addToCurrent {
			w.add(w.next[p.state])
		}
		p.at = atCurrent
	case atCurrent:
		w.add(w.current[p.state])
		p.at = atStore
	case atStore:
		if !p.stored {
			w.change(1)
		}
		p.at = atLeave
	case atLeave:
		w.inside[p.state]--
		*p = putter{at: end}
	default:
		return false
	}
	return true
}

// stepBuild advances the builder; the other one of its choices is to fail.
func (w *world) stepBuild(r rule, fail bool) bool {
	b := &w.build
	before := w.current[w.now]
	if fail {
		if b.at != atWait && b.at != atList && b.at != atListed || r == swapFirst {
			return false
		}
		w.publish(before, none)
		*b = builder{builds: b.builds + 1, waited: b.waited}
		if b.builds == w.builds {
			b.at = end
		}
		return true
	}
	switch b.at {
	case start:
		w.publish(before, w.filters)
		w.filters++
		b.at = atWait
		if r == waitForLast {
			b.waited = w.now - 1
		}
	case atWait:
		switch {
		case r == noWait || b.waited == w.now:
			b.at = atList
		case w.inside[b.waited] > 0:
			return false
		default:
			b.waited++
		}
	case atList:
		b.listed = w.present(w.length)
		b.at = atListed
		if r == swapFirst {
			w.publish(w.filters-1, none)
		}
	case atListed: // only what was there all the time is in the list for sure
		if b.listed {
			w.add(w.filters - 1)
		}
		if r != swapFirst {
			w.publish(w.filters-1, none)
		}
		*b = builder{builds: b.builds + 1, waited: b.waited}
		if b.builds == w.builds {
			b.at = end
		}
	default:
		return false
	}
	return true
}

func (w *world) stepLookup() bool {
	l := &w.lookup
	switch l.at {
	case start:
		*l = looker{at: atLoad, absent: !w.present(w.length)}
	case atLoad:
		l.state, l.at = w.now, atAsk
	case atAsk:
		filter := w.current[l.state]
		l.missed = filter != none && !w.hasKey(filter)
		l.at = end
	default:
		return false
	}
	return true
}

func (w *world) stepSave(r rule) bool {
	s := &w.save
	choose := func() bool {
		s.filter = w.current[w.now]
		return s.filter != none
	}
	position := func() { s.position, w.durable = w.length, w.length }
	switch s.at {
	case start:
		switch {
		case r == positionEarly:
			position()
		case !choose():
			return false // it tries again
		case r == bitsFirst:
			s.bits = w.hasKey(s.filter)
		}
		s.at = atPosition
	case atPosition:
		if r != positionEarly {
			position()
		} else if !choose() {
			return false
		}
		s.at = atStill
	case atStill:
		s.at = atBits
		if w.current[w.now] != s.filter && r != positionLate {
			*s = saver{}
		}
	case atBits:
		if r != bitsFirst {
			s.bits = w.hasKey(s.filter)
		}
		s.at = saved
	default:
		return false
	}
	return true
}

// wrong says what is not as promised.
func (w *world) wrong() string {
	if l := w.lookup; l.at == end && l.missed && !l.absent {
		return "a false no"
	}
	if w.save.at != saved {
		return ""
	}
	for n := w.durable; n <= w.length; n++ { // the store comes back with so many changes
		if !w.present(n) || w.save.bits {
			continue
		}
		caught := false
		for i := w.save.position; i < n; i++ {
			caught = caught || w.log>>i&1 == 1
		}
		if !caught {
			return "a false no after a crash"
		}
	}
	return ""
}
