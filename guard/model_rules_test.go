package guard

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/explore"
)

// tryAll visits every state that can be reached, or those until one is wrong, and returns
// what is, and how many there were.
func tryAll(r rule, builds, deletes int8, save bool) (wrong string, states int) {
	first := world{builds: builds, deletes: deletes}
	if !save {
		first.save.at = end
	}
	first.current[0], first.next[0] = none, none
	states = explore.States(first, func(w world, to func(world)) {
		if wrong != "" {
			return
		}
		for i := range w.put {
			if next := w; next.stepPut(r, i) {
				to(next)
			}
		}
		for _, step := range []func(*world) bool{
			func(w *world) bool { return w.stepBuild(r, false) },
			func(w *world) bool { return w.stepBuild(r, true) },
			func(w *world) bool { return w.stepLookup() },
			func(w *world) bool { return w.stepSave(r) },
			func(w *world) bool {
				if w.deletes == 0 || !w.present(w.length) {
					return false
				}
				w.deletes--
				w.change(0)
				return true
			},
		} {
			if next := w; step(&next) {
				to(next)
			}
		}
	}, func(w world, _ bool) {
		if wrong == "" {
			wrong = w.wrong()
		}
	})
	return wrong, states
}

// TestNoFalseNoInEveryInterleaving exhausts the model. With -long three builds and two
// deletes, otherwise two and one.
func TestNoFalseNoInEveryInterleaving(t *testing.T) {
	builds, deletes := int8(2), int8(1)
	if *effort.Long {
		builds, deletes = 3, 2
	}
	wrong, states := tryAll(byTheBook, builds, deletes, true)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d states, never a false no", states)
}

// TestExplorerFindsBrokenRules shows that the explorer can fail, with as many builds and
// deletes as each fault needs.
func TestExplorerFindsBrokenRules(t *testing.T) {
	for _, c := range []struct {
		name            string
		rule            rule
		builds, deletes int8
		save            bool
		want            string
	}{
		{"storeFirst", storeFirst, 1, 0, false, "a false no"},
		{"noSecondLook", noSecondLook, 1, 0, false, "a false no"},
		{"addToCurrent", addToCurrent, 1, 0, false, "a false no"},
		{"noWait", noWait, 1, 0, false, "a false no"},
		{"waitForLast", waitForLast, 2, 0, false, "a false no"},
		{"swapFirst", swapFirst, 1, 0, false, "a false no"},
		{"positionEarly", positionEarly, 1, 1, true, "a false no after a crash"},
		{"positionLate", positionLate, 2, 0, true, "a false no after a crash"},
		{"bitsFirst", bitsFirst, 1, 0, true, "a false no after a crash"},
	} {
		if wrong, states := tryAll(c.rule, c.builds, c.deletes, c.save); wrong != c.want {
			t.Errorf("%s: %q in %d states, want %q", c.name, wrong, states, c.want)
		}
	}
}
