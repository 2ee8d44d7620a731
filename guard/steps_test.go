//go:build steps

package guard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/stepped"
)

// stepStore is a store of a few keys: bit i is there if the key named i is.
type stepStore struct {
	visible stepped.Uint64
	fails   bool // once, at the end of a list
}

func (s *stepStore) Keys(context.Context, []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		visible := s.visible.Load()
		for i := range 64 {
			if visible>>i&1 == 1 && !yield([]byte{byte(i)}, nil) {
				return
			}
		}
		if s.fails {
			s.fails = false
			yield(nil, errStep)
		}
	}
}

var errStep = errors.New("a list that fails")

func (s *stepStore) Position(context.Context) ([]byte, error) { return []byte{1}, nil }

// Goroutines put keys while filters are built, in every order of the atomic operations of the real
// code. A key is found as soon as it was put.
func TestPutsInSteps(t *testing.T) {
	switches := 2
	if *effort.Long {
		switches = 3
	}
	for _, c := range []struct {
		putters, rounds, builds int
		fails                   bool // the first build
	}{{2, 1, 1, false}, {3, 1, 1, false}, {2, 2, 1, false}, {2, 1, 2, false}, {2, 1, 2, true}} {
		states, wrong := stepped.Explore(t, func() stepped.World {
			s := &stepStore{}
			s.visible.Load() // so that it has a name
			g := must(New("", 4, 0.1, s, bloom.WithStrategy(bloom.Blocked1)))
			if err := g.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			s.fails = c.fails
			w := stepped.World{Switches: switches}
			missed := ""
			for p := range c.putters {
				w.Threads = append(w.Threads, stepped.Thread{Kind: fmt.Sprint("put", p), Run: func() uint64 {
					for round := range c.rounds {
						i := p*c.rounds + round
						key := []byte{byte(i)}
						_ = g.Put(func() error { s.visible.Set(1 << i); return nil }, key)
						if !g.Contains(key) {
							missed = fmt.Sprintf("key %d was put, and is not found", i)
						}
					}
					return 0
				}})
			}
			w.Threads = append(w.Threads, stepped.Thread{Kind: "build", Run: func() uint64 {
				for range c.builds {
					if err := g.Rebuild(context.Background(), 4, 0.1); err != nil && !errors.Is(err, errStep) {
						t.Fatal(err)
					}
				}
				return 0
			}})
			w.Check = func(waiting bool) string {
				if waiting {
					return "the build never ends"
				}
				for i := range c.putters * c.rounds {
					if missed == "" && !g.Contains([]byte{byte(i)}) {
						missed = fmt.Sprintf("key %d is not found at last", i)
					}
				}
				return missed
			}
			return w
		})
		if wrong != "" {
			t.Fatalf("%d putters of %d keys, %d builds: %s", c.putters, c.rounds, c.builds, wrong)
		}
		t.Logf("%d putters of %d keys, %d builds: %d states, at most %d switches", c.putters, c.rounds, c.builds, states, switches)
	}
}
