package rotating

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
)

func written(t testing.TB, f *Filter) []byte {
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small is what the golden file holds: four layers in three generations.
func small(c *clock) *Filter {
	f := must(12, 0.1, time.Minute, 3, c.option(), bloomOpts(bloom.WithSeed(7)))
	var b [16]byte
	for i := range uint64(8) {
		f.Add(key(&b, i))
		c.sleep(5 * time.Second)
	}
	f.Add(key(&b, 8))
	f.Add(key(&b, 9))
	return f
}

func TestGolden(t *testing.T) {
	var c clock
	f := small(&c)
	golden := frametest.Golden(t, "testdata/v1.golden", written(t, f))
	g, err := Read(bytes.NewReader(golden), c.option())
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != f.String() || len(*g.live.Load()) < 3 {
		t.Errorf("%v, want %v", g, f)
	}
	if again := written(t, g); !bytes.Equal(again, golden) {
		t.Error("written again, it is another")
	}
	frametest.Damage(t, golden, c.read)
	frametest.Failing(t, f.WriteTo)
}

func (c *clock) read(r io.Reader) error { _, err := Read(r, c.option()); return err }

// snapshots returns two files of one filter of equal length, with some adds between them.
func snapshots(t testing.TB, c *clock, n, generations uint64) (earlier, later []byte) {
	f := must(n*generations, 0.1, time.Minute, int(generations), c.option())
	var b [16]byte
	for i := range generations {
		for j := range n/2 + i%2 {
			f.Add(key(&b, i<<20+j))
		}
		c.sleep(f.time.length)
	}
	f.Add(key(&b, 1<<40))
	earlier = written(t, f)
	for i := range n / 3 {
		f.Add(key(&b, 1<<41+i))
	}
	return earlier, written(t, f)
}

// TestGoesOnAfterRead: a filter that is read remembers and forgets as the original does.
func TestGoesOnAfterRead(t *testing.T) {
	for _, opts := range [][]bloom.Option{
		nil, {bloom.WithKey([16]byte{1, 2})}, {bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5)}, {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(5)},
	} {
		var c clock
		f := must(100, 1e-6, time.Hour, 3, c.option(), bloomOpts(opts...))
		var b [16]byte
		next := uint64(0)
		add := func(filters ...*Filter) {
			for range 20 {
				for _, f := range filters {
					if !f.Add(key(&b, next)) {
						t.Fatalf("%v: key %d is not new", f, next)
					}
				}
				next++
			}
			c.sleep(13 * time.Minute)
		}
		for range 10 {
			add(f)
		}
		g, err := Read(bytes.NewReader(written(t, f)), c.option(), bloomOpts(opts...))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			for i := range next {
				if f.Contains(key(&b, i)) != g.Contains(key(&b, i)) {
					t.Fatalf("%v: key %d: %v; the original: %v", g, i, g.Contains(key(&b, i)), f.Contains(key(&b, i)))
				}
			}
			add(f, g)
		}
		if !bytes.Equal(written(t, f), written(t, g)) {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

// TestTimePassesInTheFile: between writing and reading, keys get older; a clock that is
// behind the writer's does not make them younger or eternal.
func TestTimePassesInTheFile(t *testing.T) {
	var c clock
	f := must(100, 1e-6, time.Hour, 2, c.option())
	c.until(10 * time.Hour)
	f.AddString("key")
	c.sleep(40 * time.Minute)
	data := written(t, f)
	for _, x := range []struct {
		read, asked time.Duration
		want        bool
	}{
		{10*time.Hour + 40*time.Minute, 0, true},
		{11 * time.Hour, 0, true},
		{11*time.Hour + 30*time.Minute, 0, false},
		{11 * time.Hour, 29 * time.Minute, true},
		{11 * time.Hour, 30 * time.Minute, false},
		{1000 * time.Hour, 0, false},
		{time.Hour, 0, true},
		{time.Hour, 49 * time.Minute, true},
		{time.Hour, 50 * time.Minute, false},
	} {
		c.until(x.read)
		g, err := Read(bytes.NewReader(data), c.option())
		if err != nil {
			t.Fatal(err)
		}
		c.sleep(x.asked)
		if got := g.ContainsString("key"); got != x.want {
			t.Errorf("read at %v, asked %v later: %v, want %v", x.read, x.asked, got, x.want)
		}
		if got := g.AddString("key"); got == x.want {
			t.Errorf("read at %v, added %v later: %v, want %v", x.read, x.asked, got, !x.want)
		}
	}
	// The system's clock: far ahead of the one above.
	g, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if g.ContainsString("key") || !g.AddString("key") || !g.ContainsString("key") {
		t.Error("with the system's clock: wrong")
	}
}

func TestWhatCannotBeWrittenOrRead(t *testing.T) {
	var b bytes.Buffer
	if n, err := must(10, 0.1, time.Hour, 2, bloomOpts(bloom.WithHash(bloom.MapHash))).WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	keyed := written(t, must(10, 0.1, time.Hour, 2, bloomOpts(bloom.WithKey([16]byte{1}))))
	for name, c := range map[string]struct {
		opts []bloom.Option
		want error
	}{
		"no key":           {nil, bloom.ErrIncompatible},
		"another key":      {[]bloom.Option{bloom.WithKey([16]byte{2})}, bloom.ErrIncompatible},
		"another strategy": {[]bloom.Option{bloom.WithKey([16]byte{1}), bloom.WithStrategy(bloom.Blocked)}, bloom.ErrIncompatible},
		"little memory":    {[]bloom.Option{bloom.WithKey([16]byte{1}), bloom.WithMaxBytes(3)}, bloom.ErrTooLarge},
	} {
		if f, err := Read(bytes.NewReader(keyed), bloomOpts(c.opts...)); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, f, err, c.want)
		}
	}
}

// TestSnapshotWhileKeysCome: keys that come while the filter is written, and are in its
// bits, have taken their places, so that no layer of the copy gets more than it is for.
func TestSnapshotWhileKeysCome(t *testing.T) {
	const n = 800_000 // more than one write a layer
	var c clock
	f := must(n, 0.01, time.Hour, 4, c.option())
	var b [16]byte
	out := frametest.BusyWriter{Meanwhile: func() {
		for i := range uint64(n / 4) {
			f.Add(key(&b, i))
		}
	}}
	if _, err := f.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	g, err := Read(&out.Buffer, c.option())
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(n); i < n+n/4; i++ {
		g.Add(key(&b, i))
	}
	for i, e := range *g.live.Load() {
		if count, n := e.Stats().EstimatedCount, e.Params().N; count > n+n/50 {
			t.Errorf("layer %d is for %d keys and has about %d", i, n, count)
		}
	}
}
