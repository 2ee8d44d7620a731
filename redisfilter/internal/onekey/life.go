package onekey

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Life is one incarnation of the key, from when it is made until it is lost.
type Life struct {
	Epoch string // 8 bytes, that the value begins and ends with
	Owner string // of the slot: 8 bytes

	lost     atomic.Bool          // noticed: until Reopen, nothing more is sent
	claiming chan struct{}        // holds one while a goroutine takes a slot
	slot     atomic.Pointer[Slot] // nil until the first add
}

// NewLife returns the life of a key with this epoch.
func NewLife(epoch string) *Life {
	return &Life{Epoch: epoch, Owner: NewNonce(), claiming: make(chan struct{}, 1)}
}

// Over reports whether the loss of the key was noticed.
func (l *Life) Over() bool { return l.lost.Load() }

// Slot returns the slot of the life, or nil if it has none.
func (l *Life) Slot() *Slot { return l.slot.Load() }

// A Slot is a counter in the value that belongs to one handle. The adds of the handle count it up.
// A count that is lower than one which a reply has shown tells that the value is older than what
// was confirmed.
//
// In the value, it is 8 bytes of an owner, 0 if it was never used, the count, and when it was last
// used by the server's clock, both as little-endian doubles.
type Slot struct {
	At      uint64        // where it begins in the value
	counted atomic.Uint64 // the highest count that was seen, as the bits of a float64
}

// Least returns what the count must be at least.
func (s *Slot) Least() float64 { return math.Float64frombits(s.counted.Load()) }

// See notes a count from a reply.
func (s *Slot) See(count float64) {
	for {
		before := s.counted.Load()
		if math.Float64frombits(before) >= count || s.counted.CompareAndSwap(before, math.Float64bits(count)) {
			return
		}
	}
}

// A Table is where the slots are in the value.
type Table struct{ At, Each, Count uint64 }

// Claim returns the slot of a life. If it has none, a script takes one and answers with its index.
// Of several goroutines, one runs the script; the others wait, but no longer than ctx allows.
func (k *Key) Claim(ctx context.Context, l *Life, t Table, script Script, args ...any) (*Slot, error) {
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return nil, send.Explain(k.Name, ctx.Err())
	}
	if s := l.Slot(); s != nil {
		return s, nil
	}
	v, err := k.Run(ctx, script, args...)
	if err != nil {
		return nil, k.Explain(l, err)
	}
	i, ok := v.(int64)
	if !ok || i < 0 || uint64(i) >= t.Count {
		return nil, k.Errorf("the script answered %v, want a slot below %d", v, t.Count)
	}
	s := &Slot{At: t.At + uint64(i)*t.Each}
	l.slot.Store(s)
	return s, nil
}

// How a key was lost.
const (
	Gone  = "it is gone, cut short, or another one"
	Taken = "its value is an older one, or another handle has taken this one's slot"
	Older = "its value is older than what was confirmed"
)

// Lost marks a life as lost, if it is not nil, and returns the error.
func (k *Key) Lost(l *Life, how string) error {
	if l != nil && !l.lost.Swap(true) {
		k.Counts.Lost.Add(1)
	}
	return fmt.Errorf("%w: key %q: %s: Reopen goes on with what is there", send.ErrLost, k.Name, how)
}

// Ready returns an error if a loss was noticed before or ctx has ended.
func (k *Key) Ready(ctx context.Context, l *Life) error {
	if l.Over() {
		return k.Lost(l, "it was noticed before")
	}
	return send.Explain(k.Name, ctx.Err())
}

// NewNonce returns 8 random bytes. What has vanished reads as 0; so that the last byte alone cannot
// vanish unseen, it is not 0.
func NewNonce() string {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if b[7] != 0 {
			return string(b[:])
		}
	}
}
