package rotating

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

func year(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

// again returns the filter that is read from what f writes.
func again(t *testing.T, f *Filter, opts ...Option) *Filter {
	t.Helper()
	g, err := Read(bytes.NewReader(conformance.Written(t, f)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestClocks: whatever times a clock says, a key is found for the window and forgotten a generation
// after it, by the filter and by one that is read from its file.
func TestClocks(t *testing.T) {
	const window, generations = time.Hour, 4
	for _, c := range []struct {
		name         string
		first, later time.Time // when the filter is made, and when the key comes
	}{
		{"ordinary", year(2026), year(2026).Add(10 * time.Minute)},
		{"the zero time first", time.Time{}, year(2026)},
		{"the zero time first, and then soon", time.Time{}, time.Time{}.Add(time.Hour)},
		{"a jump of five centuries", year(2026), year(2526)},
		{"before 1678", year(1500), year(1500).AddDate(0, 1, 0)},
		{"beyond 2262", year(2300), year(3000)},
		{"the longest that there is a date for", year(1), year(9999)},
		{"beyond all dates", year(2026), time.Unix(1<<55, 999_999_999)},
		{"from before all dates", time.Unix(-1<<55, 0), time.Unix(1<<55, 1)},
		{"292 years less a little", year(2026), year(2026).Add(math.MaxInt64 - 1)},
		{"292 years", year(2026), year(2026).Add(math.MaxInt64)},
		{"with nanoseconds that count backwards", time.Unix(0, 999_999_999), time.Unix(1000, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := c.first
			clock := WithClock(func() time.Time { return now })
			f := must(100, 1e-9, window, generations, clock)
			f.AddString("old")
			now = c.later
			if c.later.Sub(c.first) > 2*window && (f.ContainsString("old") || !yes(f.AddString("old"))) {
				t.Error("what is old is not forgotten")
			}
			if !yes(f.AddString("key")) || yes(f.AddString("key")) {
				t.Fatal("the key is not new, or new twice")
			}
			data := conformance.Written(t, f)
			for _, age := range []time.Duration{0, window, window + window/generations, 5 * 365 * 24 * time.Hour, math.MaxInt64} {
				now = c.later.Add(age)
				g, err := Read(bytes.NewReader(data), clock)
				if err != nil {
					t.Fatal(err)
				}
				for name, f := range map[string]*Filter{"": f, " in the file": g} {
					if f.ContainsString("key") != (age <= window) || (f.ContainsMany([][]byte{[]byte("key")}, nil) == 1) != (age <= window) {
						t.Errorf("after %v%s: found %v, want %v", age, name, age > window, age <= window)
					}
				}
			}
		})
	}
}

// TestClockGoesAnywhere compares a filter, and filters that are written and read at any moment, with an exact model.
// Their clock has no monotonic part, and each reading may be before, at or after the last one: by some generations, by
// windows, by centuries. The seeds are fixed, so that a false positive, at p = 1e-12, cannot come by chance.
func TestClockGoesAnywhere(t *testing.T) {
	const window, generations, length = time.Hour, 4, time.Hour / 4
	steps := []time.Duration{0, time.Nanosecond, length - time.Nanosecond, length, 2*length + 1, window, window + length, 3 * window, 200 * 365 * 24 * time.Hour}
	seen := map[string]int{}
	for seed := range uint64(testkit.Times(60, 100, 10_000)) {
		random := rand.New(rand.NewPCG(seed, 68))
		begin := []time.Time{year(2026), {}, time.Unix(0, 0), year(9999)}[seed%4]
		now := begin
		clock := WithClock(func() time.Time { return now })
		filters := []*Filter{must(100, 1e-12, window, generations, clock)}
		newest, added := int64(0), map[string]int64{} // generations of the newest layer, and of each key
		for op := range 60 {
			if random.IntN(3) == 0 {
				step := steps[random.IntN(len(steps))]
				if random.IntN(2) == 0 {
					step = -step
				}
				if now = now.Add(step); random.IntN(8) == 0 {
					now = begin.Add(step)
				}
			}
			g := max(newest, (now.Unix()-begin.Unix())/int64(length/time.Second)) // also beyond the 292 years of a Duration
			oldest := g - generations
			if random.IntN(4) == 0 { // one of the filters is replaced by its file, or has a twin
				i := random.IntN(len(filters))
				if g := again(t, filters[i], clock); len(filters) < 3 {
					filters = append(filters, g)
				} else {
					filters[i] = g
				}
			}
			key := fmt.Sprint("key ", random.IntN(20))
			at, known := added[key]
			known = known && at >= oldest
			for i, f := range filters {
				if got := f.ContainsString(key); got != known {
					t.Fatalf("seed %d, operation %d, %v: filter %d has %s: %v, want %v", seed, op, now, i, key, got, known)
				}
			}
			seen[fmt.Sprint(known)]++
			if random.IntN(2) == 0 {
				for i, f := range filters {
					if got := yes(f.AddString(key)); got == known {
						t.Fatalf("seed %d, operation %d, %v: filter %d, %s is new: %v, want %v", seed, op, now, i, key, got, !known)
					}
				}
				if !known {
					newest, added[key] = g, g
				}
			}
		}
	}
	if seen["true"] < 500 || seen["false"] < 500 {
		t.Errorf("answers: %v, want at least 500 of each", seen)
	}
}

// TestGenerationsRunOut: generations of 1 ns run out after 292 years. Then time stands still, and nothing is lost.
func TestGenerationsRunOut(t *testing.T) {
	now := year(2026)
	clock := WithClock(func() time.Time { return now })
	f := must(100, 1e-9, 4, 4, clock)
	f.AddString("old")
	for range 3 {
		if now = now.AddDate(400, 0, 0); f.ContainsString("old") {
			t.Fatal("not forgotten")
		}
	}
	if !yes(f.AddString("key")) || !f.ContainsString("key") || !again(t, f, clock).ContainsString("key") {
		t.Error("a key is missing")
	}
}

// A wallClock has a time of day that can be set while its monotonic clock goes on, as the
// system's can.
type wallClock struct {
	monotonic time.Duration
	day       time.Time
}

func (c *wallClock) sleep(d time.Duration) { c.monotonic += d; c.day = c.day.Add(d) }

func (c *wallClock) set(step time.Duration) { c.day = c.day.Add(step) }

// now returns a time with both readings, which only time.Now can make otherwise.
func (c *wallClock) now() time.Time {
	t := time.Now()
	parts := (*struct {
		wall uint64 // 1 bit: has a monotonic reading; 33 bits: seconds since 1885; 30 bits: nanoseconds
		ext  int64  // the monotonic reading
		loc  *time.Location
	})(unsafe.Pointer(&t))
	parts.wall = 1<<63 | uint64(c.day.Unix()+2_682_288_000)<<30 | uint64(c.day.Nanosecond())
	parts.ext = int64(c.monotonic)
	return t
}

// TestTimeOfDayIsSet sets the time of day after the start, before the snapshot and after the read, by every pair of
// steps, and with -long by every combination. The snapshot keeps exactly what the live filter keeps.
func TestTimeOfDayIsSet(t *testing.T) {
	const window, generations = time.Hour, 4
	steps := []time.Duration{0, -30 * 365 * 24 * time.Hour, -window, -time.Second, time.Second, window / 2, 3 * window, 30 * 365 * 24 * time.Hour}
	wrong := 0
	for combination := 0; combination < len(steps)*len(steps)*len(steps)*len(steps); combination += testkit.Times(5, 5, 1) {
		combination := combination
		var set [4]time.Duration
		for i := range set {
			set[i] = steps[combination%len(steps)]
			combination /= len(steps)
		}
		c := &wallClock{day: year(2026), monotonic: time.Hour}
		if at := c.now(); !at.Equal(c.day) || (&wallClock{day: year(2000), monotonic: 2 * time.Hour}).now().Sub(at) != time.Hour {
			t.Fatal("this version of Go has another layout of time.Time")
		}
		live := must(1000, 1e-3, window, generations, WithClock(c.now))
		keys := []string{}
		add := func(count int) {
			for range count {
				keys = append(keys, fmt.Sprint("key ", len(keys)))
				if !yes(live.AddString(keys[len(keys)-1])) {
					t.Fatalf("steps %v: %s is not new", set, keys[len(keys)-1])
				}
				c.sleep(7 * time.Minute)
			}
		}
		add(6)
		c.set(set[0])
		add(6)
		c.set(set[1])
		data := conformance.Written(t, live)
		if set[2] < 0 { // a clock that is set forward between the two is time that passes
			c.set(set[2])
		}
		read, err := Read(bytes.NewReader(data), WithClock(c.now))
		if err != nil {
			t.Fatal(err)
		}
		c.set(set[3])
		for range 14 {
			for _, key := range keys {
				if got, want := read.ContainsString(key), live.ContainsString(key); got != want {
					wrong++
					t.Errorf("steps %v: %s: %v in the snapshot, %v in the filter", set, key, got, want)
					break
				}
			}
			if wrong > 5 {
				t.FailNow()
			}
			c.sleep(8 * time.Minute)
		}
		if read.ContainsString(keys[len(keys)-1]) {
			t.Errorf("steps %v: a key is never forgotten", set)
		}
	}
}
