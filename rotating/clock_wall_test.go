package rotating

import (
	"bytes"
	"fmt"
	"testing"
	"time"
	"unsafe"
)

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

// TestTimeOfDayIsSet sets the time of day after the start, before the snapshot and after the
// read, by every combination of steps. The snapshot keeps exactly what the live filter keeps.
func TestTimeOfDayIsSet(t *testing.T) {
	const window, generations = time.Hour, 4
	steps := []time.Duration{0, -30 * 365 * 24 * time.Hour, -window, -time.Second, time.Second, window / 2, 3 * window, 30 * 365 * 24 * time.Hour}
	wrong := 0
	for combination := range len(steps) * len(steps) * len(steps) * len(steps) {
		var set [4]time.Duration
		for i := range set {
			set[i] = steps[combination%len(steps)]
			combination /= len(steps)
		}
		c := &wallClock{day: year(2026), monotonic: time.Hour}
		if at := c.now(); !at.Equal(c.day) || (&wallClock{day: year(2000), monotonic: 2 * time.Hour}).now().Sub(at) != time.Hour {
			t.Fatal("this version of Go has another layout of time.Time")
		}
		live := must(1000, 1e-9, window, generations, WithClock(c.now))
		keys := []string{}
		add := func(count int) {
			for range count {
				keys = append(keys, fmt.Sprint("key ", len(keys)))
				if !live.AddString(keys[len(keys)-1]) {
					t.Fatalf("steps %v: %s is not new", set, keys[len(keys)-1])
				}
				c.sleep(7 * time.Minute)
			}
		}
		add(6)
		c.set(set[0])
		add(6)
		c.set(set[1])
		data := written(t, live)
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
