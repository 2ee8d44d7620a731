package rotating

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestFull: at a limit of memory a new key is refused and not added, but never before its generation has
// n/generations keys, whatever the other generations take. Present keys have their answers, Count is
// exact, and the memory is within the limit.
func TestFull(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	refused, total := 0, 0
	for range testkit.Times(30, 40, 3000) {
		generations, strategy := 1+random.IntN(5), []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked}[random.IntN(2)]
		n := uint64(1 + random.IntN(1000))
		least := must(n, 0.01, time.Hour, generations, WithBloom(bloom.WithStrategy(strategy))).own * uint64(generations+1)
		limit := least + random.Uint64N(3*least)
		var c clock
		f := must(n, 0.01, time.Hour, generations, c.option(), WithBloom(bloom.WithMaxBytes(limit), bloom.WithStrategy(strategy)))
		added, g, next := map[int64]uint64{}, int64(0), uint64(0)
		var b [16]byte
		for range 4 * generations {
			for range random.IntN(int(f.plan.guess()) * []int{1, 1, 3, 20}[random.IntN(4)]) {
				k := key(&b, next)
				next++
				won, err := f.Add(k)
				switch total++; {
				case err != nil:
					refused++
					if !errors.Is(err, bloom.ErrFull) || !errors.Is(err, bloom.ErrTooLarge) || won || f.Contains(k) || added[g] < f.plan.guess() {
						t.Fatalf("%v: generation %d after %v: %v, %v; the key is present: %v", f, g, added, won, err, f.Contains(k))
					}
					won, err = f.Renew(k)
					count, batchErr := f.AddMany([][]byte{key(new([16]byte), next-2), k}, nil)
					if won || count != 0 || !errors.Is(err, bloom.ErrFull) || !errors.Is(batchErr, bloom.ErrFull) {
						t.Fatalf("%v: a full filter renews: %v, %v; and adds: %d, %v", f, won, err, count, batchErr)
					}
				case won:
					added[g]++
					if yes(f.Add(k)) || yes(f.Renew(k)) {
						t.Fatalf("%v: a key is new twice", f)
					}
				}
			}
			require.LessOrEqual(t, f.SizeBytes(), limit)
			want := uint64(0)
			for i := g - int64(generations); i <= g; i++ {
				want += added[i]
			}
			require.Equal(t, want, f.Count())
			passed := int64(1 + random.IntN(20)/18*random.IntN(2*generations))
			g += passed
			c.sleep(time.Duration(passed) * f.time.length)
		}
	}
	require.Positive(t, refused)
	t.Logf("%d of %d keys refused", refused, total)
}

// TestCountAfterStorms: Count is the number of true answers, also in a copy.
func TestCountAfterStorms(t *testing.T) {
	for range testkit.Times(20, 20, 1000) {
		var c clock
		f := must(100, 0.01, time.Hour, 4, c.option())
		layeredtest.Storm(t, f, func() { c.sleep(f.time.length) })
		g, err := c.read(bytes.NewReader(conformance.Written(t, f)))
		require.NoError(t, err)
		require.Equal(t, f.Count(), g.(*Filter).Count())
	}
}

// TestFullSays: the error begins with the package's name and says what is full and when there is room.
func TestFullSays(t *testing.T) {
	var c clock
	f := must(100, 0.01, time.Hour, 2, c.option())
	limit := 3*f.own + 10
	f = must(100, 0.01, time.Hour, 2, c.option(), WithBloom(bloom.WithMaxBytes(limit)))
	var err error
	for i := uint64(0); err == nil; i++ {
		_, err = f.Add(key(new([16]byte), i))
	}
	require.Regexp(t, `^bloom: filter full: filter too large: \d+ keys at rate 0\.\d+ take \d+ bytes, want at most \d+, in layer 4 of generation 0 of a filter for n = 100 keys at p = 0\.01, `+
		`whose layers take \d+ of at most 646 bytes; 424 bytes are kept for other generations, and the next generation has room$`, err.Error())
	require.Equal(t, 1, strings.Count(err.Error(), "bloom: "))
	c.sleep(f.time.length)
	require.True(t, yes(f.AddString("there is room again")))
}

// TestRenewAtTheLimit: a key that cannot be renewed stays as it was.
func TestRenewAtTheLimit(t *testing.T) {
	var c clock
	f := must(10, 0.01, time.Hour, 1, c.option())
	f = must(10, 0.01, time.Hour, 1, c.option(), WithBloom(bloom.WithMaxBytes(2*f.own)))
	require.True(t, yes(f.AddString("key")))
	c.sleep(time.Hour)
	for i := uint64(0); ; i++ {
		if _, err := f.Add(key(new([16]byte), i)); err != nil {
			break
		}
	}
	keys := f.Count()
	won, err := f.Renew([]byte("key"))
	require.ErrorIs(t, err, bloom.ErrFull)
	require.False(t, won)
	require.Equal(t, keys, f.Count())
	require.True(t, f.ContainsString("key"))
	require.False(t, yes(f.AddString("key")))
	c.sleep(time.Hour)
	require.False(t, f.ContainsString("key"))
}

// TestLayersComeMeanwhile: while an add is in its layer, others add further layers until memory ends. The add has won
// and has no room in the newest layer, so it keeps the room that it has. AddMany then counts what it has added.
func TestLayersComeMeanwhile(t *testing.T) {
	for _, renew := range []bool{false, true} {
		var c clock
		var hook func()
		made := func(opts ...bloom.Option) *Filter {
			return must(10, 1e-6, time.Hour, 1, c.option(), WithBloom(append(opts, bloom.WithStrategy(layeredtest.Hooked(&hook)))...))
		}
		limit := bloom.WithMaxBytes(2 * made().own)
		f := made(limit)
		calls, others := 0, uint64(0)
		hook = func() {
			if calls++; calls == 6 { // the lookup before the add asks for four positions
				hook = nil
				for ; ; others++ {
					if _, err := f.Add(key(new([16]byte), others)); err != nil {
						break
					}
				}
			}
		}
		h1, h2 := f.digest([]byte("key"))
		won, err := f.add(h1, h2, renew)
		require.NoError(t, err)
		require.True(t, won && f.ContainsString("key"))
		require.Greater(t, len(*f.layers.Load()), 1)
		require.Equal(t, others+1, f.Count())

		f = made(limit)
		keys := make([][]byte, 100)
		for i := range keys {
			keys[i] = key(new([16]byte), uint64(i))
		}
		count, err := f.AddMany(keys, nil)
		require.ErrorIs(t, err, bloom.ErrFull)
		require.EqualValues(t, others+1, count)
	}
}
