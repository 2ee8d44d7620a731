package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// An op is one call of Add or Contains. exempt means that the key may be a false positive when the
// call returns, so that no add wins it.
type op struct {
	key         int
	add, exempt bool
}

// annotate sets exempt. A key can be a false positive in two cases:
//
//  1. Adds of other keys, called before this call returned, set all of its bits.
//  2. They set one of its bits, and an add of the same key sets the others.
func annotate(history []porcupine.Operation, positions [][]uint64) (exempt bool) {
	for i, o := range history {
		in := o.Input.(op)
		var others []uint64
		own := false
		for _, b := range history {
			if by := b.Input.(op); by.add && b.Call <= o.Return {
				if by.key == in.key {
					own = true
				} else {
					others = append(others, positions[by.key]...)
				}
			}
		}
		shared := 0
		for _, pos := range positions[in.key] {
			if slices.Contains(others, pos) {
				shared++
			}
		}
		in.exempt = shared == len(positions[in.key]) || own && shared > 0
		history[i].Input = in
		exempt = exempt || in.exempt
	}
	return exempt
}

// byKey splits a history by the keys of its operations.
func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int][]porcupine.Operation{}
	for _, o := range history {
		parts[o.Input.(op).key] = append(parts[o.Input.(op).key], o)
	}
	return slices.Collect(maps.Values(parts))
}

// model is the documented behaviour of one key: the first Add returns true and later ones false;
// Contains returns false before it and true after it. An exempt key may become present without a
// winner. A key never becomes absent again, and never has a second winner.
var model = porcupine.Model{
	Partition: byKey,
	Init:      func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		present, in, yes := state.(bool), input.(op), output.(bool)
		switch {
		case present: // Add: false. Contains: true.
			return yes != in.add, true
		case yes == in.add: // the winner, or a Contains before it
			return true, in.add
		}
		return in.exempt, true // nobody wins
	},
}

// record runs each program in a goroutine of its own, all calls in lockstep, and returns the history.
func record(s *bloom.BloomFilter, keys [][]byte, programs [][]op) []porcupine.Operation {
	histories := make([][]porcupine.Operation, len(programs))
	line := testkit.Line{Runners: uint64(len(programs))}
	var wg sync.WaitGroup
	start := time.Now()
	for g, program := range programs {
		histories[g] = make([]porcupine.Operation, len(program))
		wg.Go(func() {
			for i, o := range program {
				line.Wait(uint64(i + 1))
				var yes bool
				call := time.Since(start)
				if o.add {
					yes = s.Add(keys[o.key])
				} else {
					yes = s.Contains(keys[o.key])
				}
				histories[g][i] = porcupine.Operation{ClientId: g, Input: o, Call: int64(call), Output: yes, Return: int64(time.Since(start))}
			}
		})
	}
	wg.Wait()
	return slices.Concat(histories...)
}

// search records histories until they have enough operations, and returns their number and the first
// one that is not linearizable.
func search(t *testing.T, enough int, record func(round uint64) []porcupine.Operation) (histories int, broken []porcupine.Operation) {
	for operations := 0; operations < enough; histories++ {
		history := record(uint64(histories))
		operations += len(history)
		switch result, _ := porcupine.CheckOperationsVerbose(model, history, 10*time.Minute); result {
		case porcupine.Illegal:
			return histories, history
		case porcupine.Unknown:
			t.Fatalf("a history of %d operations could not be checked in ten minutes", len(history))
		}
	}
	return histories, nil
}

// races returns a function that records a history of goroutines that add and look up three keys, and
// counts the histories without a key that may be a false positive.
func races(goroutines int, scheme *bloom.Scheme, strict *int, filter func() *bloom.BloomFilter) func(round uint64) []porcupine.Operation {
	return func(round uint64) []porcupine.Operation {
		keys, positions := [][]byte{}, [][]uint64{}
		for i := range 3 {
			keys = append(keys, fmt.Appendf(nil, "key %d of %d", i, round))
			positions = append(positions, scheme.AppendPositions(nil, keys[i]))
		}
		random := rand.New(rand.NewPCG(round, 0)) // every run tries the same programs
		programs := make([][]op, goroutines)
		for range 6 {
			same := random.IntN(3)
			for g := range programs {
				key := same
				if round%4 == 0 { // otherwise they all meet
					key = random.IntN(3)
				}
				programs[g] = append(programs[g], op{key: key, add: random.IntN(3) > 0})
			}
		}
		history := record(filter(), keys, programs)
		if !annotate(history, positions) {
			*strict++
		}
		return history
	}
}

// schemes returns every strategy in a filter where few keys share bits, and in one where most do.
func schemes(t *testing.T) map[string]*bloom.Scheme {
	all := map[string]*bloom.Scheme{}
	custom := bloom.NewStrategy("custom", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })})
	for _, s := range append(bloom.Strategies(), custom) {
		for _, k := range []int{6, 8, 16} {
			for name, m := range map[string]uint64{"wide": 1 << 20, "narrow": 512} {
				if name == "narrow" && s == bloom.DoubleHashing {
					m = 24 // three keys of 6 bits: hardly any has one of its own
				}
				if scheme, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(s)); err == nil {
					all[fmt.Sprint(s, k, "/", name)] = scheme // not every strategy has every k
				}
			}
		}
	}
	return all
}

// TestLinearizable records the answers to several goroutines. Porcupine looks for an order of the
// calls in which one goroutine would get the same answers.
func TestLinearizable(t *testing.T) {
	all := schemes(t)
	operations := testkit.Times(20_000, 200_000, 2_000_000) // all together
	for name, scheme := range all {
		for _, goroutines := range []int{2, 4} {
			strict := 0
			histories, broken := search(t, operations/len(all)/2, races(goroutines, scheme, &strict, func() *bloom.BloomFilter {
				f, err := scheme.Filter()
				require.NoError(t, err)
				return f
			}))
			require.Empty(t, broken, "%s, %d goroutines: not linearizable", name, goroutines)
			if scheme.Params().M > 1<<10 {
				require.Greater(t, strict, histories*9/10)
			}
			t.Logf("%s, %d goroutines: %d histories", name, goroutines, histories)
		}
	}
}

// TestModelRefuses compares the model with the documentation, history by history. An add of key 1
// comes first in each.
func TestModelRefuses(t *testing.T) {
	type call struct {
		add, answer bool
		from, to    int64
	}
	const add, contains = true, false
	for _, c := range []struct {
		text          string
		free, covered bool // the answer if key 1 has none of key 0's bits, all of them
		calls         []call
	}{
		{"one winner", true, true, []call{{add, true, 0, 5}, {add, false, 1, 6}}},
		{"two winners", false, false, []call{{add, true, 0, 5}, {add, true, 1, 6}}},
		{"nobody wins", false, true, []call{{add, false, 0, 5}, {add, false, 1, 6}}},
		{"a loser before the winner began", false, false, []call{{add, false, 0, 1}, {add, true, 2, 3}}},
		{"missed", false, false, []call{{add, true, 0, 1}, {contains, false, 2, 3}}},
		{"not yet there", true, true, []call{{add, true, 0, 3}, {contains, false, 1, 2}}},
		{"there, then gone", false, false, []call{{add, true, 0, 9}, {contains, true, 1, 2}, {contains, false, 3, 4}}},
		{"never added", false, true, []call{{contains, true, 0, 1}}},
		{"there before its add", false, true, []call{{contains, true, 0, 1}, {add, false, 2, 3}}},
	} {
		for i, other := range [][]uint64{{3, 4}, {1, 2}} {
			want := []bool{c.free, c.covered}[i]
			history := []porcupine.Operation{{ClientId: 9, Input: op{key: 1, add: true}, Output: true, Call: -1, Return: 100}}
			for i, o := range c.calls {
				history = append(history, porcupine.Operation{ClientId: i, Input: op{add: o.add}, Output: o.answer, Call: o.from, Return: o.to})
			}
			annotate(history, [][]uint64{{1, 2}, other})
			require.Equal(t, want, porcupine.CheckOperations(model, history), "%s, bits %v", c.text, other)
		}
	}
}
