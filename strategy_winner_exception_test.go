package bloom

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

// TestExceptionIsRare counts the one exception to the one winner beside its bound:
// two goroutines add different keys in lockstep, each of which was not there when
// both began, and one of the two sets the other's last lacking bit in just those
// nanoseconds. It can do so only if one of its k positions is that bit: in k/m of all
// cases, for Blocked too (the same block, the same word, a bit in it). The filters are
// small enough to see it at all; with the million keys at 1 %
// of the README the bound is below one in a million, next to the one in a hundred
// that are ordinary false positives. Those are counted too.
func TestExceptionIsRare(t *testing.T) {
	rounds := effort.Times(1<<11, 1<<13, 1<<16)
	if *races > 0 {
		rounds = *races / 8
	}
	for _, s := range []Strategy{DoubleHashing, Blocked2, Blocked8, SplitBlock} {
		for _, m := range []uint64{512, 5120} {
			params := Params{M: m, K: 8}
			perFilter := int(m / 16) // pairs: about a p of 0.4 % in the end
			t.Run(fmt.Sprintf("strategy=%s/m=%d", s, m), func(t *testing.T) {
				exceptions, positives, predicted := raceOfPairs(t, rounds, params, s, perFilter)
				total := float64(2 * rounds)
				bound := total * float64(params.K) / float64(m)
				t.Logf("%.0f adds: %d ordinary false positives, predicted %.0f; %d exceptions, at most %.0f if all adds overlapped fully",
					total, positives, predicted, exceptions, bound)
				if math.Abs(float64(positives)-predicted) > 5*math.Sqrt(predicted)+0.02*predicted {
					t.Errorf("%d ordinary false positives, want %.0f", positives, predicted)
				}
				if float64(exceptions) > bound+4*math.Sqrt(bound) {
					t.Errorf("%d exceptions, want at most %.0f", exceptions, bound)
				}
			})
		}
	}
}

// raceOfPairs lets two goroutines add different keys at the same moment. It returns
// how many keys were not there before and were still told not to be new; how many
// were there before, having never been added; and how many of those were predicted
// from the bits.
func raceOfPairs(t *testing.T, rounds int, params Params, s Strategy, perFilter int) (exceptions, positives int, predicted float64) {
	f, err := NewWithParams(params, WithStrategy(s))
	if err != nil {
		t.Fatal(err)
	}
	b := lockstep.Line{Runners: 2}
	var nobody, there atomic.Int64
	var wg sync.WaitGroup
	for g := range uint64(2) {
		wg.Go(func() {
			for i := range uint64(rounds) {
				h1, h2 := digestOf(2*i + g)
				b.Wait(3*i + 1)
				if g == 0 {
					if i%uint64(perFilter) == 0 {
						f.Clear()
					}
					predicted += 2 * f.Stats().EstimatedFalsePositiveRate
				}
				b.Wait(3*i + 2) // nothing is being added: this answer is certain
				before := f.ContainsDigest(h1, h2)
				b.Wait(3*i + 3)
				if before {
					there.Add(1)
				}
				if won := f.AddDigest(h1, h2); !won && !before {
					nobody.Add(1)
				} else if won && before {
					t.Errorf("key %d was there, and is new", 2*i+g)
				}
			}
		})
	}
	wg.Wait()
	return int(nobody.Load()), int(there.Load()), predicted
}
