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

// An incarnation is what a handle knows of a shard's value, from when the value is made until it is lost. An add that
// began in one incarnation does not teach the cache of the next.
type incarnation struct {
	plan    *plan // with the slots of the value
	epoch   string
	ttl     time.Duration
	expires time.Time // zero for never
	cache   cache

	state    atomic.Uint64          // the most layers, or the latest generation, that replies have shown
	shift    atomic.Uint64          // of generations, see add.lua
	time     atomic.Pointer[sample] // of the server's clock
	looked   atomic.Pointer[look]   // at the server's clock
	heard    atomic.Int64           // when the server last answered, in nanoseconds
	lost     atomic.Bool            // noticed: until Reopen, nothing is sent
	claiming chan struct{}          // holds one while a goroutine claims a slot
	slot     *slot
}

// newIncarnation begins with what was found. sent is the local time of the command that asked for it.
func newIncarnation(h found, sent time.Duration) *incarnation {
	f := h.plan
	v := &incarnation{plan: f, epoch: h.epoch(), ttl: h.ttl(), expires: h.expires(), claiming: make(chan struct{}, 1), slot: newSlot(newNonce())}
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

// elapsed returns a time that only grows. Tests replace it.
var elapsed = func() time.Duration { return time.Since(began) }

// hear records that the server has answered a command. us is the server's clock in microseconds, or 0 if the reply has
// no clock. hear pairs the clock with the time when the command was sent. After a late reply, the estimate of the
// server's clock is therefore too high, never too low, and the only cost is one more command that asks for the clock.
func (v *incarnation) hear(us float64, sent time.Duration) {
	v.heard.Store(int64(elapsed()))
	if us > 0 {
		v.time.Store(&sample{time.Duration(us) * time.Microsecond, sent})
	}
}

// quietAfter is how long the cache answers without a reply of the server. Then a call goes to the server, and notices
// if the value is lost.
const quietAfter = time.Second

// knows reports whether the cache contains a key and may answer.
func (v *incarnation) knows(positions []uint64) bool {
	return v.cache.contains(positions) && !v.lost.Load() && elapsed()-time.Duration(v.heard.Load()) < quietAfter &&
		(v.expires.IsZero() || time.Now().Before(v.expires))
}

// known returns what the handle knows now.
func (v *incarnation) known() known {
	s := v.time.Load()
	age := elapsed() - s.ours
	return known{v.state.Load(), v.shift.Load(), s.server + age, age, *v.looked.Load()}
}

// raise sets a number to value if it is less.
func raise(number *atomic.Uint64, value uint64) {
	for {
		before := number.Load()
		if before >= value || number.CompareAndSwap(before, value) {
			return
		}
	}
}

// A cache is a local copy of the bits of a shard that are known to be set. It never has a bit that the shard lacks, so
// it adds no errors. It has no memory before the first confirmed add.
type cache struct {
	words uint64 // 0: there is no cache
	bits  atomic.Pointer[[]atomic.Uint64]
}

// contains reports whether all bits at these positions are known to be set.
func (c *cache) contains(positions []uint64) bool {
	bits := c.bits.Load()
	if bits == nil {
		return false
	}
	for _, pos := range positions {
		if (*bits)[pos/64].Load()>>(pos%64)&1 == 0 {
			return false
		}
	}
	return true
}

// learn notes that the bits at these positions are set.
func (c *cache) learn(positions []uint64) {
	if c.words == 0 {
		return
	}
	bits := c.bits.Load()
	if bits == nil {
		room := make([]atomic.Uint64, c.words)
		c.bits.CompareAndSwap(nil, &room)
		bits = c.bits.Load()
	}
	for _, pos := range positions {
		if word, bit := &(*bits)[pos/64], uint64(1)<<(pos%64); word.Load()&bit == 0 {
			word.Or(bit)
		}
	}
}
