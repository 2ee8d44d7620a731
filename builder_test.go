package bloom

import (
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestBuilder: the filter has the bits that Add sets, for each strategy, hash, rate and number of keys, for keys that
// come one by one and in batches, and whose memory is used again.
func TestBuilder(t *testing.T) {
	opts := hashOptions()
	opts["custom"], opts["custom-64"] = WithHash(customHash), WithHash(customHash64)
	opts["none"] = WithSeed(9)
	tried := map[string]bool{}
	for _, s := range allStrategies {
		for name, opt := range opts {
			for _, p := range []float64{0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6} {
				for _, n := range []int{0, 1, builderKeys - 1, builderKeys, builderKeys + 1, testkit.Times(600, 600, 2000)} {
					scheme, err := NewScheme(uint64(n), p, WithStrategy(s), opt)
					if err != nil || s.NeedsKey() && n > builderKeys {
						continue // not of this strategy, or slow and the same
					}
					tried[fmt.Sprint(s, name)] = true
					want := must(scheme.Filter())
					var keys [][]byte
					for i := range n {
						keys = append(keys, fmt.Appendf(nil, "%0*d", i%130, i))
						want.Add(keys[i])
					}
					one, many, mixed := must(must(NewScheme(uint64(n), p, WithStrategy(s), opt)).Builder()), must(scheme.Builder()), must(scheme.Builder())
					buffer := make([]byte, 200)
					for i, key := range keys {
						one.Add(buffer[:copy(buffer, key)])
						switch {
						case i%77 == 0:
							mixed.AddMany(keys[i:min(i+76, n)])
						case i%77 == 76 && !s.NeedsKey():
							mixed.AddDigest(scheme.Digest(key))
						case i%77 == 76:
							mixed.AddString(string(key))
						}
					}
					many.AddMany(keys)
					for _, b := range []*Builder{one, many, mixed} {
						if !want.Equal(b.Filter()) {
							t.Fatalf("%v, n = %d, p = %v: other bits than by Add", scheme, n, p)
						}
					}
				}
			}
		}
	}
	for _, s := range allStrategies {
		require.True(t, tried[fmt.Sprint(s, "none")], s)
		for _, name := range []string{"custom", murmur3Hash.name, mapHash.name, rapidHash.name, sipHash.name} {
			require.Equal(t, !s.NeedsKey(), tried[fmt.Sprint(s, name)], "%v with %s", s, name)
		}
	}
}

// TestBuilderIsUsedUp: a Builder that has no filter says so.
func TestBuilderIsUsedUp(t *testing.T) {
	used := must(must(NewScheme(10, 0.01)).Builder())
	used.Filter()
	for _, b := range []*Builder{used, {}} {
		for name, call := range map[string]func(){
			"Add": func() { b.Add(nil) }, "AddString": func() { b.AddString("") }, "AddMany": func() { b.AddMany(nil) },
			"AddDigest": func() { b.AddDigest(1, 2) }, "Filter": func() { b.Filter() },
		} {
			require.PanicsWithValue(t, noBuilder, call, name)
		}
	}
	_, err := (*Scheme)(nil).Builder()
	require.ErrorIs(t, err, ErrInvalid)
	require.Panics(t, func() { must(must(NewScheme(10, 0.01, WithStrategy(SeededHashing))).Builder()).AddDigest(1, 2) })
}

// TestBuilderIsForOneGoroutine: the race detector sees a Builder that two goroutines share.
func TestBuilderIsForOneGoroutine(t *testing.T) {
	switch {
	case !testkit.RaceDetector:
		t.Skip("NOT TESTED without the race detector: that it sees a Builder which two goroutines share")
	case os.Getenv("BLOOM_SHARE_BUILDER") != "":
		b := must(must(NewScheme(1000, 0.01)).Builder())
		var wg testkit.Group
		for g := range 2 {
			wg.Go(func() { b.AddString(fmt.Sprint(g)) })
		}
		wg.Wait()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBuilderIsForOneGoroutine$")
	cmd.Env = append(os.Environ(), "BLOOM_SHARE_BUILDER=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "DATA RACE")
}

// TestBuilderAfterPanic: after a custom hash or strategy has panicked, the builder has exactly the keys before.
func TestBuilderAfterPanic(t *testing.T) {
	broken := false
	check := func() {
		if broken {
			panic("broken")
		}
	}
	hash := NewHash("panics", func(key []byte) (h1, h2 uint64) {
		check()
		return Digest64(uint64(len(key)))
	})
	strategy := NewStrategy("panics", Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		check()
		return (h1 + uint64(i)*h2) % m
	})})
	for name, opt := range map[string]Option{"hash": WithHash(hash), "strategy": WithStrategy(strategy)} {
		b, err := must(NewScheme(100, 0.01, opt)).Builder()
		require.NoError(t, err)
		want := MustNew(100, 0.01, opt)
		want.AddString("abc")
		b.AddString("abc")
		broken = true
		require.Panics(t, func() {
			b.AddString("abcd")
			b.Filter()
		}, name)
		broken = false
		if name == "strategy" { // it panicked when the key was there
			want.AddString("abcd")
		}
		require.True(t, want.Equal(b.Filter()), name)
	}
}

// TestBuilderWithinHash: a custom hash may add keys to the builder that calls it, whatever room is left.
func TestBuilderWithinHash(t *testing.T) {
	for first := range builderKeys + 2 {
		var b *Builder
		inner := "inner "
		hash := NewHash("adds", func(key []byte) (h1, h2 uint64) {
			if len(key) < len(inner) && b != nil { // each outer key adds two
				b.AddString(inner + string(key))
				b.AddMany([][]byte{[]byte(inner + string(key) + "'")})
			}
			return Digest64(maphash.Bytes(mapSeed, key))
		})
		b = must(must(NewScheme(1000, 1e-6, WithHash(hash))).Builder())
		for i := range first {
			b.AddDigest(Digest64(uint64(i)))
		}
		b.AddMany([][]byte{[]byte("a"), []byte("b"), []byte("c")})
		f := b.Filter()
		b = nil
		for _, key := range []string{"a", "b", "c"} {
			require.True(t, f.ContainsString(key) && f.ContainsString(inner+key) && f.ContainsString(inner+key+"'"),
				"after %d keys lost a key of %q", first, key)
		}
	}
}
