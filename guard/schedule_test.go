package guard

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
)

// A scheduler runs the real code of puts, builds, lookups and saves of one key in every order. A
// goroutine pauses at each bit of the filter and in the store, and the scheduler resumes one at a
// time. synctest tells it when a build waits for puts.
type scheduler struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
	running string

	coarse bool // filters do not pause

	g     *Guard
	store oneKey
	saved *snapshot
	wrong string
}

// pause waits until it is the turn of the goroutine with this name.
func (s *scheduler) pause(name string) {
	turn := make(chan struct{})
	s.mu.Lock()
	s.waiting[name] = turn
	s.mu.Unlock()
	<-turn
}

func (s *scheduler) start(name string, f func()) {
	go func() {
		s.pause(name)
		f()
	}()
}

// run resumes the goroutines as choices says, and afterwards the first one. It returns the choices and
// the number of goroutines that waited each time.
func (s *scheduler) run(choices []int) (taken, options []int) {
	for {
		synctest.Wait()
		names := slices.Sorted(maps.Keys(s.waiting))
		if len(names) == 0 {
			return taken, options
		}
		choice := 0
		if len(taken) < len(choices) {
			choice = choices[len(taken)]
		}
		taken, options = append(taken, choice), append(options, len(names))
		s.running = names[choice]
		turn := s.waiting[s.running]
		delete(s.waiting, s.running)
		close(turn)
	}
}

// every runs all schedules, depth first. It returns their number and the first mistake.
func every(t *testing.T, threads func(s *scheduler)) (schedules int, wrong string) {
	for choices := []int{}; ; {
		s := &scheduler{waiting: map[string]chan struct{}{}}
		var taken, options []int
		synctest.Test(t, func(t *testing.T) {
			s.open(t)
			threads(s)
			taken, options = s.run(choices)
			s.end()
			s.crash()
		})
		schedules++
		if s.wrong != "" {
			return schedules, s.wrong
		}
		last := len(taken) - 1
		for last >= 0 && taken[last]+1 == options[last] {
			last--
		}
		if last < 0 {
			return schedules, ""
		}
		choices = append(taken[:last:last], taken[last]+1)
	}
}

// oneKey is a store of one key. It lists the key only if it must.
type oneKey struct {
	log    []bool // true: put
	listed bool   // in the store since the list began
	absent bool   // not in the store at some moment of the lookup
	fails  error  // at the end of the list
	pause  func(string)
}

var theKey = []byte("key")

func (o *oneKey) present() bool { return len(o.log) > 0 && o.log[len(o.log)-1] }

func (o *oneKey) change(put bool) {
	o.log = append(o.log, put)
	if !put {
		o.listed, o.absent = false, true
	}
}

func (o *oneKey) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		o.pause("build")
		o.listed = o.present() && (len(since) == 0 || slices.Contains(o.log[since[0]-1:], true))
		o.pause("build")
		if o.fails != nil {
			yield(nil, o.fails)
		} else if o.listed {
			yield(theKey, nil)
		}
	}
}

func (o *oneKey) Position(context.Context) ([]byte, error) {
	o.pause("save")
	defer o.pause("save")
	return []byte{byte(len(o.log)) + 1}, nil
}

// open makes a guard that is ready.
func (s *scheduler) open(t *testing.T) {
	hook := func() {}
	strategy := bloom.NewStrategy("paused", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
		hook()
		return (h1 + uint64(i)*h2) % m
	})})
	s.store.pause = func(string) {}
	g, err := New("", 1, 0.5, &s.store, bloom.WithStrategy(strategy))
	if err == nil {
		err = g.Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.g, s.store.pause = g, s.pause
	hook = func() {
		if s.running != "" && !s.coarse {
			s.pause(s.running)
		}
	}
}

// put puts the key and, if deletes is true, deletes it afterwards.
func (s *scheduler) put(name string, deletes bool) {
	s.start(name, func() {
		s.g.Put(func() error {
			s.pause(name)
			s.store.change(true)
			s.pause(name)
			return nil
		}, theKey)
		if deletes {
			s.pause(name)
			s.store.change(false)
		}
	})
}

// putLate puts the key with a store that returns an error and has the key afterwards.
func (s *scheduler) putLate(name string) {
	s.start(name, func() {
		if err := s.g.Put(func() error { return errOfStore }, theKey); err != errOfStore {
			s.wrong = "the error of the store is lost"
		}
		s.pause(name)
		s.store.change(true)
	})
}

// build builds as often as there are errors for the store to return.
func (s *scheduler) build(fails ...error) {
	s.start("build", func() {
		for _, err := range fails {
			s.store.fails = err
			if got := s.g.Rebuild(context.Background(), 1, 0.5); !errors.Is(got, err) {
				s.wrong = "the error of the store is lost"
			}
		}
	})
}

func (s *scheduler) lookup() {
	s.start("lookup", func() {
		s.store.absent = !s.store.present()
		if !s.g.Contains(theKey) && !s.store.absent {
			s.wrong = "a false no"
		}
	})
}

func (s *scheduler) save() {
	s.start("save", func() {
		saved, err := s.g.snapshot(context.Background())
		s.pause("save")
		var file bytes.Buffer
		if err == nil {
			_, err = saved.WriteTo(&file)
		}
		if err == nil {
			saved, err = read(&file, s.g.opts)
		}
		if err != nil {
			s.wrong = err.Error()
		}
		s.saved = &saved
	})
}

func (s *scheduler) end() {
	s.running = ""
	if s.store.present() && !s.g.Contains(theKey) {
		s.wrong = "a false no at the end"
	}
}

// crash opens the saved filter in front of each earlier state of the store that the position allows.
func (s *scheduler) crash() {
	if s.saved == nil {
		return
	}
	for n := int(s.saved.position[0] - 1); n <= len(s.store.log); n++ {
		store := oneKey{log: s.store.log[:n], pause: func(string) {}}
		g, err := New("", 1, 0.5, &store, s.g.opts...)
		if err == nil {
			err = g.build(context.Background(), newLayer(s.saved.Clone(), 0), s.saved.position)
		}
		if err != nil {
			s.wrong = err.Error()
		} else if store.present() && !g.Contains(theKey) {
			s.wrong = "a false no after a crash"
		}
	}
}

var errOfStore = errors.New("the store fails")

// The long schedules have some hundred thousand orders.
var schedules = []struct {
	name    string
	long    bool
	threads func(s *scheduler)
}{
	{"put, build, lookup", false, func(s *scheduler) { s.put("put", false); s.build(nil); s.lookup() }},
	{"put, two builds", false, func(s *scheduler) { s.put("put", false); s.build(nil, nil) }},
	{"put, a build that fails, a build", false, func(s *scheduler) { s.put("put", false); s.build(errOfStore, nil) }},
	{"late put, a build", false, func(s *scheduler) { s.putLate("put"); s.build(nil) }},
	{"late put, two builds, coarse", false, func(s *scheduler) { s.coarse = true; s.putLate("put"); s.build(nil, nil); s.lookup() }},
	{"put and delete, build, save, coarse", false, func(s *scheduler) { s.coarse = true; s.put("put", true); s.build(nil); s.save() }},
	{"put, build, save", true, func(s *scheduler) { s.put("put", false); s.build(nil); s.save() }},
	{"put and delete, build, save", true, func(s *scheduler) { s.put("put", true); s.build(nil); s.save() }},
	{"put, two builds, lookup", true, func(s *scheduler) { s.put("put", false); s.build(nil, nil); s.lookup() }},
	{"two puts, build", true, func(s *scheduler) { s.put("put 1", false); s.put("put 2", false); s.build(nil) }},
	{"two puts, one deletes, lookup", true, func(s *scheduler) { s.put("put 1", true); s.put("put 2", false); s.lookup() }},
}

func TestNoFalseNoInEverySchedule(t *testing.T) {
	for _, c := range schedules {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !*effort.Long {
				t.Skip("NOT TESTED without -long: some hundred thousand schedules")
			}
			n, wrong := every(t, c.threads)
			if wrong != "" {
				t.Errorf("schedule %d: %s", n, wrong)
			}
			t.Logf("%d schedules", n)
		})
	}
}
