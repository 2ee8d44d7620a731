package redisfilter

import (
	"sync/atomic"
	"time"
)

// A shard is one string in Redis. All bits of a key are in one shard, so that the key takes one command to one cluster
// slot.
type shard struct {
	name     string
	value    atomic.Pointer[incarnation]
	renewing chan struct{} // has an element while a goroutine renews the value
}

// An incarnation is the known state of a shard's value, from the value's creation until it has expired or was lost. An
// add that began in one incarnation does not change the cache of the next.
type incarnation struct {
	epoch   string
	ttl     time.Duration
	expiry  double    // in Unix milliseconds by the server's clock, 0 for never
	expires time.Time // zero for never
	cache   cache

	state   atomic.Uint64          // the largest number of layers, or the latest generation, in a reply
	shift   atomic.Uint64          // generations to add to the server's clock, see add.lua
	time    atomic.Pointer[sample] // estimate of the server's clock
	looked  atomic.Pointer[look]   // the last result of askClock
	lost    atomic.Bool            // if true, the next call uses the present value
	expired atomic.Bool            // the value has expired, so that nothing was lost
}

// newIncarnation returns the incarnation of the value in h, a reply of open.lua. sent is the local time when the
// command was sent.
func newIncarnation(f *plan, h found, sent time.Duration) *incarnation {
	v := &incarnation{epoch: h.epoch(), ttl: h.ttl(), expiry: h.Expiry, expires: h.expires()}
	v.state.Store(h.State.whole())
	v.shift.Store(h.Shift.whole())
	v.time.Store(&sample{})
	v.looked.Store(&look{})
	v.hear(h.us, sent)
	if m := f.scheme.Params().M; f.fixed() && m/8*uint64(f.shards) <= f.opts.cache {
		v.cache.words = (m + 63) / 64
	}
	return v
}

// A sample pairs a reading of the server's clock with a local time at or before it.
type sample struct{ server, ours time.Duration }

var began = time.Now()

// elapsed returns the local time, by the monotonic clock. Tests replace it.
var elapsed = func() time.Duration { return time.Since(began) }

// hear records a reading of the server's clock. us is in microseconds, or 0 if the reply had none. sent is the local
// time when the command was sent. So after a late reply, the estimate of the server's clock is too high, never too low.
// A high estimate costs at most one more command that asks for the clock.
func (v *incarnation) hear(us float64, sent time.Duration) {
	if us > 0 {
		v.time.Store(&sample{time.Duration(us) * time.Microsecond, sent})
	}
}

// knows reports whether the cache has the key at these positions, and may answer without the server.
func (v *incarnation) knows(positions []uint64) bool {
	return v.cache.has(positions) && !v.lost.Load() && v.cache.mayAnswer() &&
		(v.expires.IsZero() || time.Now().Before(v.expires))
}

// known returns the latest known state of the value, and an estimate of the server's clock.
func (v *incarnation) known() known {
	s := v.time.Load()
	age := elapsed() - s.ours
	return known{v.state.Load(), v.shift.Load(), s.server + age, age, *v.looked.Load()}
}

// raise atomically sets number to value if number is less than value.
func raise(number *atomic.Uint64, value uint64) {
	for {
		before := number.Load()
		if before >= value || number.CompareAndSwap(before, value) {
			return
		}
	}
}
