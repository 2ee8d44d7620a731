package stepped

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"
	"testing"
	"unsafe"
)

// A Thread runs concurrently with others. Threads of one Kind must do the same. Run returns the results that Check
// depends on, as a number; 0 if there are none.
type Thread struct {
	Kind string
	Run  func() uint64
}

// A World is a test case: threads, and the initial state that they share. When all threads have returned or wait for
// each other, Explore calls Check. waiting reports whether some threads wait. Check returns an error text or "".
//
// Switches limits the number of preemptions, that is, of switches from a thread that could continue; 0 means no limit.
type World struct {
	Threads  []Thread
	Check    func(waiting bool) string
	Switches int
}

// Holds calls Explore and fails the test if Check returns an error text in some order. what is the name of the case in
// messages.
func Holds(t *testing.T, what string, made func() World) {
	t.Helper()
	states, wrong := Explore(t, made)
	if wrong != "" {
		t.Fatalf("%s: %s", what, wrong)
	}
	t.Logf("%s: %d states", what, states)
}

// Explore runs the threads of a World in every order of their steps. For each order it calls world, which must return
// an equal World every time. Explore returns the number of different states, and the error text of the first wrong
// order, or "".
//
// Explore tries no further orders from a state that was visited before. A state consists of the values of all words and
// the results of each thread's steps so far. These results determine at which step the thread is.
func Explore(t testing.TB, world func() World) (states int, wrong string) {
	seen := map[uint64]struct{}{}
	var path []choice
	for {
		r := &run{words: map[unsafe.Pointer]*word{}, names: map[unsafe.Pointer]uint64{}}
		path, wrong = r.follow(t, path, seen, world)
		if wrong != "" {
			return len(seen), wrong + "\n" + r.story()
		}
		for len(path) > 0 && path[len(path)-1].left == 0 {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return len(seen), ""
		}
		last := &path[len(path)-1]
		last.taken = bits.TrailingZeros32(last.left)
		last.left &= last.left - 1
	}
}

// A choice is the thread that took a step of the order, and the set of threads that are still to be tried at this step.
type choice struct {
	taken int
	left  uint32
}

// A run is one execution of a World, in one order of the steps.
type run struct {
	threads []*thread
	words   map[unsafe.Pointer]*word  // changed words
	names   map[unsafe.Pointer]uint64 // numbers that identify the values that pointers point to
	sum     uint64                    // hash of the words that differ from their first values
	writes  int                       // number of operations that have changed a word
	taken   []int
}

// A thread is a Thread in a run.
type thread struct {
	Thread
	id     uint64
	found  uint64 // hash of the results so far
	named  uint64 // number of names that name has returned
	next   func() (struct{}, bool)
	pause  func(struct{}) bool
	ready  func() bool // reports whether it can continue; nil if it can
	ended  bool
	whole  bool // if true, it does not pause before a step
	writes int  // number of writes by this thread
}

// A word is a word of memory that a run has changed. adds is what the word adds to run.sum: 0 while the word has its
// first value.
type word struct{ name, first, adds uint64 }

// now is the present run, and current the thread that is running.
var (
	now     *run
	current *thread
)

const maxSteps = 100_000

// follow runs one order: it takes the choices of path, and then always the first thread that can continue. It returns
// the path with the choices in new states appended.
func (r *run) follow(t testing.TB, path []choice, seen map[uint64]struct{}, world func() World) ([]choice, string) {
	now, current = r, &thread{} // steps of world itself give names to their words
	defer func() { now, current = nil, nil }()
	w := world()
	current = nil
	for i, one := range w.Threads {
		th := &thread{Thread: one, id: uint64(i + 1), found: name(one.Kind)}
		th.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			th.pause = yield
			th.found = mix(name(one.Kind)+1, one.Run())
			th.ended, th.named = true, 0
		})
		r.threads = append(r.threads, th)
		r.resume(th) // up to its first step
	}
	old := false            // the state was visited before
	last, switches := -1, 0 // the last thread, and the number of preemptions
	for step := 0; ; step++ {
		if step == maxSteps {
			return path, "it does not end"
		}
		able := r.able()
		if w.Switches > 0 && switches == w.Switches && last >= 0 && able>>last&1 == 1 {
			able = 1 << last
		}
		if step >= len(path) && !old {
			state := r.state()
			if w.Switches > 0 {
				state = mix(mix(state, uint64(switches)), uint64(last+1))
			}
			if _, old = seen[state]; !old {
				seen[state] = struct{}{}
			}
		}
		if able == 0 {
			break
		}
		taken := bits.TrailingZeros32(able)
		switch {
		case step < len(path):
			if taken = path[step].taken; able>>taken&1 == 0 {
				t.Fatalf("the world is not the same each time: thread %d cannot go on", taken)
			}
		case !old:
			path = append(path, choice{taken, able &^ (1 << taken)})
		}
		if last >= 0 && last != taken && able>>last&1 == 1 {
			switches++
		}
		last = taken
		r.taken = append(r.taken, taken)
		r.resume(r.threads[taken])
	}
	waiting := false
	for _, th := range r.threads {
		waiting = waiting || !th.ended
	}
	return path, w.Check(waiting)
}

// resume lets a thread do the step before which it has paused, and run up to the next step.
func (r *run) resume(th *thread) {
	current = th
	th.next()
	current = nil
}

// able returns the set of threads that can continue.
func (r *run) able() (set uint32) {
	for i, th := range r.threads {
		if !th.ended && (th.ready == nil || th.ready()) {
			set |= 1 << i
		}
	}
	return set
}

func (r *run) state() uint64 {
	state := r.sum
	for _, th := range r.threads {
		state += mix(th.found, 1)
	}
	return state
}

// story describes the order: how many steps each thread did before the next thread ran.
func (r *run) story() string {
	var b strings.Builder
	b.WriteString("in this order:")
	for i := 0; i < len(r.taken); {
		from, thread := i, r.taken[i]
		for i < len(r.taken) && r.taken[i] == thread {
			i++
		}
		fmt.Fprintf(&b, " %d of %s%d", i-from, r.threads[thread].Kind, thread)
	}
	return b.String()
}

// access does one step on the word with the given address. The thread waits for its turn and, if ready is not nil,
// until ready returns true. do changes the word and returns the result for the thread, and the values before and after.
func access(at unsafe.Pointer, ready func() bool, do func() (found, before, after uint64)) {
	th := current
	if th != nil && th.pause != nil && !th.whole {
		th.ready = ready
		th.pause(struct{}{})
		th.ready = nil
	}
	found, before, after := do()
	if th == nil {
		return
	}
	th.found = mix(th.found, found)
	if th.pause == nil {
		now.words[at] = &word{name: th.name(), first: after}
	} else if before != after {
		now.put(at, before, after)
		now.writes++
		th.writes++
	}
}

// put records the new value of a word.
func (r *run) put(at unsafe.Pointer, before, after uint64) {
	w := r.words[at]
	if w == nil {
		w = &word{name: current.name(), first: before}
		r.words[at] = w
	}
	r.sum -= w.adds
	if w.adds = 0; after != w.first {
		w.adds = mix(w.name, after)
	}
	r.sum += w.adds
}

// name returns a number to identify a word or value. It depends only on the thread's results so far, so it is the same
// in every run that leads to the same state.
func (th *thread) name() uint64 {
	th.named++
	return mix(mix(th.found, th.id<<32), th.named<<8|1)
}

// nameOf returns the number that identifies the value at p in this run, or 0 if p is nil.
func nameOf(p unsafe.Pointer) uint64 {
	if p == nil || now == nil || current == nil {
		return 0
	}
	at, ok := now.names[p]
	if !ok {
		at = current.name()
		now.names[p] = at
	}
	return at
}

// Peek calls f. The operations in f are not steps.
func Peek(f func()) {
	th := current
	current = nil
	f()
	current = th
}

// Whole makes all operations of the thread one step until end is called.
func Whole() (end func()) {
	th := current
	if th == nil || th.pause == nil || th.whole {
		return func() {}
	}
	access(nil, nil, func() (found, before, after uint64) { return 0, 0, 0 })
	th.whole = true
	return func() { th.whole = false }
}

// mix returns the hash of h followed by x.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, x^0xd6e8feb86659fd93)
	return bits.RotateLeft64(hi^lo, 31)*0xff51afd7ed558ccd + x
}

func name(s string) (h uint64) {
	for _, c := range []byte(s) {
		h = mix(h, uint64(c))
	}
	return h
}
