package scalable

import (
	"runtime"
	"time"

	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Add adds a key. It returns true if the key is definitely new and this call added it, false if
// it was probably there already.
//
// If several goroutines add the same new key, at most one gets true. Exactly one does, unless the
// key is a false positive at that moment.
//
// The error wraps [ErrFull] if the key is new and there is no room for it. The key is then not
// in the filter. If adds under way hold the last room, Add waits for them, at most a second.
func (f *Filter) Add(key []byte) (bool, error) {
	f.now() // panics for the zero Filter
	return f.add(f.scheme.Digest(key))
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(key string) (bool, error) { return f.Add(memory.BytesOf(key)) }

// AddMany adds keys like [Filter.Add], one after the other, but faster if the layers are larger
// than the cache. It returns how many were definitely new. If added is not nil, added[i] becomes the
// answer to keys[i]. AddMany stops at the first key for which there is no room.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	memory.CheckAnswers("scalable", len(keys), added)
	return layered.AddMany(f.scheme, keys, added, f.now, f.add)
}

// How an add finds its one winner while a layer is added
//
// Two goroutines that add the same key may see different newest layers. The winner of a layer
// therefore checks that the layer is still the newest. If not, it goes on to the newest layer
// and adds the key there too.
//
// At most one winner:
//  1. Suppose A wins in layer a and B in layer b. One layer has one winner, so let a < b.
//  2. A saw a as the newest layer after its bits were complete. B saw b later than that.
//  3. When B first saw a layer newer than a, it looked the key up in all older layers except
//     the layers where it had won itself. A has won a, so B looked into a and found the key.
//
// At least one: let b be the newest layer to which any of them adds the key. The winner of b
// goes no further, so it has found b still the newest.
//
// How an add finds that there is no room
//
// An add without a ticket may still find that another add of the same key holds one of the last
// tickets, or that a ticket comes back. So the filter is full only when every ticket is used by
// an add whose bits are complete. That state is permanent. An add that sees it, and then does
// not find the key, returns ErrFull.
//
// steps_test.go tries every order.

func (f *Filter) add(h1, h2 uint64) (bool, error) {
	waited := 0
	for looked := uint64(0); ; { // older layers do not have the key, or have it from this call
		full := f.full.Load()
		noRoom := full != nil && full.usedUp.Load()
		now := f.layers.Load()
		if now.Youngest(h1, h2, looked) != nil {
			return false, nil
		}
		if noRoom && looked == 0 {
			return false, full
		}
		newest := now.Newest()
		took := newest.Tickets.Take()
		if !took {
			full := f.grow(now)
			if full == nil {
				continue
			}
			if looked == 0 {
				switch {
				case newest.Tickets.UsedUp():
					full.usedUp.Store(true)
				case waited == maxWait:
					return false, full
				default:
					pause(waited)
					waited++
				}
				continue
			}
			// An older layer has the key from this call. This layer only decides the winner.
		}
		if !newest.Add(h1, h2, took) {
			return false, nil
		}
		if f.layers.Load() == now {
			return true, nil
		}
		looked = uint64(len(*now))
	}
}

// An add takes some nanoseconds, so waiting for one mostly means waiting for its goroutine to get
// a processor. maxWait pauses are a second.
const (
	yields  = 100
	maxWait = yields + 1000
)

func pause(waited int) {
	if waited < yields {
		runtime.Gosched()
		return
	}
	time.Sleep(time.Millisecond)
}

// grow adds a layer to the given ones unless another goroutine already has. It returns why there
// can be none. That reason is permanent: limits and the machine's memory do not change.
func (f *Filter) grow(now *layered.Layers) *fullError {
	if f.layers.Load() != now {
		return nil
	}
	if full := f.full.Load(); full != nil {
		return full
	}
	f.growing.Lock()
	defer f.growing.Unlock()
	if f.layers.Load() != now || f.full.Load() != nil {
		return f.full.Load()
	}
	next, err := f.withLayer(*now)
	if err != nil {
		full := &fullError{cause: err}
		f.full.Store(full)
		return full
	}
	f.layers.Store(&next)
	return nil
}
