package redisfilter

import (
	"sync/atomic"
	"time"
)

// A shard is one key in Redis with a value of its own. All bits of one key are in one shard, so
// that the key costs one command in one cluster slot.
type shard struct {
	name  string
	value atomic.Pointer[incarnation]
}

// An incarnation is what a handle knows of a shard's value, from when the value is made until it is lost. An add that began
// in one incarnation does not teach the cache of the next.
type incarnation struct {
	epoch   string
	ttl     time.Duration
	expires time.Time // zero for never
	cache   cache

	state    atomic.Uint64          // the most layers, or the latest generation, that replies have shown
	shift    atomic.Uint64          // of generations, see add.lua
	time     atomic.Pointer[sample] // of the server's clock
	heard    atomic.Int64           // when the server last answered, in nanoseconds
	lost     atomic.Bool            // noticed: until Reopen, nothing is sent
	claiming chan struct{}          // holds one while a goroutine claims a slot
	slot     atomic.Pointer[slot]   // nil until the first add, and after another handle has got it
}

// newIncarnation begins with what a header says, at a time of the server in milliseconds.
func newIncarnation(f *plan, h header, ms float64) *incarnation {
	v := &incarnation{epoch: h.epoch(), ttl: h.ttl(), expires: h.expires(), claiming: make(chan struct{}, 1)}
	v.state.Store(h.State.whole())
	v.shift.Store(h.Shift.whole())
	v.time.Store(&sample{})
	v.hear(ms)
	if m := f.scheme.Params().M; f.fixed() && m/8*uint64(f.shards) <= f.opts.cache {
		v.cache = newCache(m)
	}
	return v
}

// A sample is the server's clock at a time not after a time of ours.
type sample struct{ server, ours time.Duration }

var began = time.Now()

// elapsed returns a time that only grows. Tests replace it.
var elapsed = func() time.Duration { return time.Since(began) }

// serverTime returns a lower bound of the server's clock since 1970, in nanoseconds. It is exact but for the way of a reply.
func (v *incarnation) serverTime() time.Duration {
	s := v.time.Load()
	return s.server + elapsed() - s.ours
}

// hear notes that the server has answered, with its clock in milliseconds if that is not 0.
func (v *incarnation) hear(ms float64) {
	now := elapsed()
	v.heard.Store(int64(now))
	if ms > 0 {
		v.time.Store(&sample{time.Duration(ms) * time.Millisecond, now})
	}
}

// quietAfter is how long the cache answers without a reply of the server. Then a call goes to the server, and notices if
// the value is lost.
const quietAfter = time.Second

// knows reports whether the cache contains a key and may answer.
func (v *incarnation) knows(positions []uint64) bool {
	return v.cache.contains(positions) && !v.lost.Load() && elapsed()-time.Duration(v.heard.Load()) < quietAfter &&
		(v.expires.IsZero() || time.Now().Before(v.expires))
}

// known returns what the handle knows now.
func (v *incarnation) known() known { return known{v.state.Load(), v.shift.Load(), v.serverTime()} }

// raise sets a number to value if it is less.
func raise(number *atomic.Uint64, value uint64) {
	for {
		before := number.Load()
		if before >= value || number.CompareAndSwap(before, value) {
			return
		}
	}
}

// A cache is a local copy of the bits of a shard that are known to be set. It never has a bit that
// the shard lacks, so it adds no errors. The nil cache knows nothing.
type cache []atomic.Uint64

func newCache(m uint64) cache { return make(cache, (m+63)/64) }

// contains reports whether all bits at these positions are known to be set.
func (f cache) contains(positions []uint64) bool {
	if f == nil {
		return false
	}
	for _, pos := range positions {
		if f[pos/64].Load()>>(pos%64)&1 == 0 {
			return false
		}
	}
	return true
}

// learn notes that the bits at these positions are set.
func (f cache) learn(positions []uint64) {
	if f == nil {
		return
	}
	for _, pos := range positions {
		if word, bit := &f[pos/64], uint64(1)<<(pos%64); word.Load()&bit == 0 {
			word.Or(bit)
		}
	}
}
