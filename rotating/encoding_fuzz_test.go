package rotating

import (
	"bytes"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

func FuzzRead(f *testing.F) {
	var c clock
	golden := written(f, small(&c))
	f.Add(golden)
	for i := 0; i < len(golden); i += 37 {
		damaged := bytes.Clone(golden)
		damaged[i] ^= 0x11
		f.Add(damaged)
		f.Add(golden[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c clock
		g, err := Read(bytes.NewReader(data), c.option(), bloomOpts(bloom.WithMaxBytes(1<<20)))
		if err != nil {
			return
		}
		written(t, g)
		if g.AddString("one more") && !g.ContainsString("one more") {
			t.Fatalf("%v: a key is missing", g)
		}
	})
}

// FuzzAgainstMap reads its input as keys and pauses and runs them on a filter and on a map
// of who was added when.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte("abc\x80abc\x8fabc\xff"))
	f.Add([]byte{1, 2, 3, 130, 4, 129, 5, 140, 1, 2, 3, 255, 3, 4})
	const window, generations = 60, 4
	sized := must(40, 1e-12, window, generations) // takes longer than the fuzzing
	f.Fuzz(func(t *testing.T, program []byte) {
		var c clock
		r := &Filter{plan: sized.plan, scheme: sized.scheme, time: newTimeline(c.now, sized.time.length)}
		first, err := r.newLayer()
		if err != nil {
			t.Fatal(err)
		}
		r.live.Store(&live{{layer: first}})
		added := map[byte]int64{}
		for _, x := range program {
			switch {
			case x == 255:
				if r, err = Read(bytes.NewReader(written(t, r)), c.option()); err != nil {
					t.Fatal(err)
				}
				continue
			case x >= 128:
				c.sleep(time.Duration(x - 128))
				continue
			}
			// A generation is 15, a key goes with its own.
			at, known := added[x]
			now := int64(c.elapsed())
			there := known && now/15 <= at/15+generations
			if got := r.Contains([]byte{x}); got != there {
				t.Fatalf("%v: Contains(%d) = %v at %d, added at %d", r, x, got, now, at)
			}
			if got := r.Add([]byte{x}); got == there {
				t.Fatalf("%v: Add(%d) = %v at %d, added at %d", r, x, got, now, at)
			}
			if !there {
				added[x] = now
			}
		}
	})
}
