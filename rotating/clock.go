package rotating

import (
	"math"
	"math/bits"
	"time"
)

// A timeline turns readings of a clock into generations. Any reading is valid: a time before the start counts as the
// start, and long times do not overflow. A file has start and at, so the reader has the writer's timeline.
type timeline struct {
	clock  func() time.Time // nil for the system's clock
	length time.Duration    // of a generation
	start  time.Time
	at     moment // the moment of start
}

// A moment is a generation and the time since the generation began. This time is less than the generation's length.
type moment struct {
	generation int64
	within     time.Duration
}

// newTimeline returns a timeline that begins now. It reads the clock once.
func newTimeline(clock func() time.Time, length time.Duration) timeline {
	t := timeline{clock: clock, length: length}
	t.start = t.read()
	return t
}

// portable returns the same timeline, for another process. A reading of the monotonic clock has no meaning there. So if
// the clock is monotonic, the start moves to the present.
func (t timeline) portable() timeline {
	if now := t.read(); now != now.Round(0) {
		t.start, t.at = now, t.moment(now)
	}
	return t
}

// from returns the timeline with its start moved to the beginning of a generation. The clock must have reached that
// generation before: the beginning of a later one may overflow a time.Time, and Div64 would panic.
func (t timeline) from(generation int64) timeline {
	hi, lo := bits.Mul64(uint64(generation-t.at.generation), uint64(t.length))
	lo, borrow := bits.Sub64(lo, uint64(t.at.within), 0)
	seconds, nanoseconds := bits.Div64(hi-borrow, lo, uint64(time.Second))
	t.start = time.Unix(t.start.Unix()+int64(seconds), int64(t.start.Nanosecond())+int64(nanoseconds))
	t.at = moment{generation: generation}
	return t
}

func (t *timeline) read() time.Time {
	if t.clock == nil {
		return time.Now()
	}
	return t.clock()
}

// generation reads the clock once and returns the current generation. time.Since reads only the monotonic clock, in a
// third of the time of time.Now. See BenchmarkContains.
func (t *timeline) generation() int64 {
	if t.clock != nil {
		return t.moment(t.clock()).generation
	}
	return t.at.add(time.Since(t.start), t.length).generation
}

// moment converts the time now to a generation and the time within the generation.
func (t *timeline) moment(now time.Time) moment {
	return t.at.after(t.start, now, t.length)
}

// after returns the moment that follows m by to - from, or m if to is before from. Like time.Time.Sub, it uses the
// monotonic clock if both readings have one: setting the time of day changes nothing.
func (m moment) after(from, to time.Time, length time.Duration) moment {
	if passed := to.Sub(from); passed < math.MaxInt64 {
		return m.add(passed, length)
	}
	// The difference is 292 years or more, so it needs 128 bits. The time to is after from, so the difference of their
	// seconds fits in a uint64.
	hi, lo := bits.Mul64(uint64(to.Unix())-uint64(from.Unix()), uint64(time.Second))
	var carry uint64
	lo, carry = bits.Add64(lo, uint64(to.Nanosecond())+uint64(m.within), 0)
	hi += carry
	lo, carry = bits.Sub64(lo, uint64(from.Nanosecond()), 0)
	hi -= carry
	if hi >= uint64(length) {
		return moment{generation: math.MaxInt64}
	}
	passed, within := bits.Div64(hi, lo, uint64(length))
	return moment{saturate(m.generation, passed), time.Duration(within)}
}

// add returns the moment that follows m by passed, or m if passed is negative.
func (m moment) add(passed, length time.Duration) moment {
	if passed <= 0 {
		return m
	}
	sum := uint64(passed) + uint64(m.within) // below 2^64: both are below 2^63
	return moment{saturate(m.generation, sum/uint64(length)), time.Duration(sum % uint64(length))}
}

// saturate returns generation + later, or math.MaxInt64 if the sum is larger.
func saturate(generation int64, later uint64) int64 {
	return generation + int64(min(later, uint64(math.MaxInt64-generation)))
}
