package bloom

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// whileAdding has all methods that may run while keys are added. Each is called with two filters, and with a key whose
// Add to f returned before. It reports whether the key is in f, and in what the method makes of f.
var whileAdding = map[string]func(f, g *BloomFilter, key []byte) bool{
	"Add":             func(f, _ *BloomFilter, key []byte) bool { return !f.Add(key) },
	"AddString":       func(f, _ *BloomFilter, key []byte) bool { return !f.AddString(string(key)) },
	"AddDigest":       func(f, _ *BloomFilter, key []byte) bool { return !f.AddDigest(f.Scheme().Digest(key)) },
	"AddMany":         func(f, _ *BloomFilter, key []byte) bool { return f.AddMany([][]byte{key}, nil) == 0 },
	"AddDigests":      func(f, _ *BloomFilter, key []byte) bool { return f.AddDigests(digestsOf(f, key), nil) == 0 },
	"Contains":        func(f, _ *BloomFilter, key []byte) bool { return f.Contains(key) },
	"ContainsString":  func(f, _ *BloomFilter, key []byte) bool { return f.ContainsString(string(key)) },
	"ContainsDigest":  func(f, _ *BloomFilter, key []byte) bool { return f.ContainsDigest(f.Scheme().Digest(key)) },
	"ContainsMany":    func(f, _ *BloomFilter, key []byte) bool { return f.ContainsMany([][]byte{key}, nil) == 1 },
	"ContainsDigests": func(f, _ *BloomFilter, key []byte) bool { return f.ContainsDigests(digestsOf(f, key), nil) == 1 },

	"Union": func(f, g *BloomFilter, key []byte) bool {
		return f.Union(g) == nil && f.Contains(key) && g.Union(f) == nil && g.Contains(key)
	},
	"Clone":  func(f, _ *BloomFilter, key []byte) bool { return f.Clone().Contains(key) },
	"FoldTo": func(f, _ *BloomFilter, key []byte) bool { return must(f.FoldTo(0.3)).Contains(key) },
	"WriteTo": func(f, _ *BloomFilter, key []byte) bool {
		var out bytes.Buffer
		must(f.WriteTo(&out))
		return must(Read(&out)).Contains(key)
	},
	"MarshalBinary": func(f, _ *BloomFilter, key []byte) bool { return readBack(must(f.MarshalBinary())).Contains(key) },
	"MarshalText": func(f, _ *BloomFilter, key []byte) bool {
		var g BloomFilter
		return g.UnmarshalText(must(f.MarshalText())) == nil && g.Contains(key)
	},

	"Equal":     func(f, g *BloomFilter, key []byte) bool { f.Equal(g); return f.Contains(key) },
	"HugePages": func(f, _ *BloomFilter, key []byte) bool { _ = f.HugePages(); return f.Contains(key) },
	"Stats":     func(f, _ *BloomFilter, key []byte) bool { return f.Stats().Ones > 0 && f.Contains(key) },
	"Words":     func(f, _ *BloomFilter, key []byte) bool { return bitArray(f.Words()).count() > 0 && f.Contains(key) },

	"GoString":  func(f, _ *BloomFilter, key []byte) bool { return f.GoString() != "" && f.Contains(key) },
	"LogValue":  func(f, _ *BloomFilter, key []byte) bool { return f.LogValue().String() != "" && f.Contains(key) },
	"Params":    func(f, _ *BloomFilter, key []byte) bool { return f.Params().M > 0 && f.Contains(key) },
	"Scheme":    func(f, _ *BloomFilter, key []byte) bool { return f.Scheme().Params() == f.Params() && f.Contains(key) },
	"SizeBytes": func(f, _ *BloomFilter, key []byte) bool { return f.SizeBytes() > 0 && f.Contains(key) },
	"String":    func(f, _ *BloomFilter, key []byte) bool { return f.String() != "" && f.Contains(key) },
}

func digestsOf(f *BloomFilter, key []byte) [][2]uint64 {
	h1, h2 := f.Scheme().Digest(key)
	return [][2]uint64{{h1, h2}}
}

func readBack(data []byte) *BloomFilter { return must(Read(bytes.NewReader(data))) }

// TestMethodsWhileAdding: no method loses a key that is added at the same time, or misses a key whose Add returned
// before, except the methods that clear bits or read another filter.
func TestMethodsWhileAdding(t *testing.T) {
	exceptions := []string{"Clear", "Intersect", "UnmarshalBinary", "UnmarshalText"}
	methods := reflect.TypeFor[*BloomFilter]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		call, found := whileAdding[name]
		if found == slices.Contains(exceptions, name) {
			t.Errorf("%s must be in whileAdding or be an exception", name)
		}
		if found {
			t.Run(name, func(t *testing.T) { addDuring(t, call) })
		}
	}
}

// addDuring calls a method while another goroutine adds keys to both filters, which have different other keys.
func addDuring(t *testing.T, call func(f, g *BloomFilter, key []byte) bool) {
	const keys, more = 40, 250
	var filled [2][]*BloomFilter
	for _, s := range foldable {
		for i := range filled {
			f := must(newWithParams(Params{M: 16 * blockBits, K: 8}, WithStrategy(s)))
			for j := range more {
				f.AddDigest(digestOf(uint64(i*more + j)))
			}
			filled[i] = append(filled[i], f)
		}
	}
	var key [2][keys][]byte
	for i := range uint64(2 * keys) {
		key[i/keys][i%keys] = key40(new([40]byte), i)
	}
	var f, g *BloomFilter  // of this round; nil ends the last one
	var done atomic.Uint64 // keys that were added to both filters
	line := testkit.Line{Runners: 2}
	var wg testkit.Group
	wg.Go(func() {
		for round := uint64(1); ; round += 2 {
			line.Wait(round)
			if f == nil {
				return
			}
			for i := range keys {
				f.Add(key[0][i])
				g.Add(key[1][i])
				done.Store(uint64(i) + 1)
			}
			line.Wait(round + 1)
		}
	})
	lost, missed := 0, 0
	round, together := uint64(1), 0 // rounds with calls while keys were added; on a busy machine there are few
	begin, limit := time.Now(), time.Duration(testkit.Times(100, 200, 10_000))*time.Millisecond
	for ; together < testkit.Times(100, 200, 20_000) && time.Since(begin) < limit; round += 2 {
		f, g = filled[0][together%len(foldable)].Clone(), filled[1][together%len(foldable)].Clone()
		done.Store(0)
		line.Wait(round)
		calls := 0
		for n := done.Load(); n < keys; n = done.Load() {
			if !call(f, g, key[0][max(n, 1)-1]) && n > 0 {
				missed++
			}
			calls++
			runtime.Gosched() // js and wasm have one thread
		}
		together += min(calls, 1)
		line.Wait(round + 1)
		for i := range keys {
			if !f.Contains(key[0][i]) || !g.Contains(key[1][i]) {
				lost++
			}
		}
	}
	f = nil
	line.Wait(round)
	wg.Wait()
	t.Logf("in %d of %d rounds, the method was called while keys were added", together, round/2)
	require.Zero(t, lost, "keys that were added during the call and are lost")
	require.Zero(t, missed, "keys that were added before the call and are not in its result")
}
