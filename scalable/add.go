package scalable

import (
	"runtime"
	"time"

	"github.com/seed3447c163/bloom/internal/digest"
)

// Add adds a key. It returns true if the key is definitely new and this call is the
// one that added it, false if it was probably there already.
//
// Of any number of goroutines that add the same new key at the same time, exactly
// one gets true. The exception is that of [bloom.BloomFilter.Add]: another key's add
// that sets this one's last missing bit in those nanoseconds.
//
// The error wraps [ErrFull] if the key is new and there is no room for it; then the
// key is not in the filter. Where the last room is taken by adds that are under way, Add
// waits for them, a second at most: one of them may be adding the key, or give its room
// back. Once Add has returned without an error, every later Contains of the key is true.
func (f *Filter) Add(key []byte) (bool, error) { return f.AddDigest(f.scheme.Digest(key)) }

// AddString is [Filter.Add] for a string, without copying it: a string and its bytes
// are the same key.
func (f *Filter) AddString(key string) (bool, error) {
	return f.AddDigest(f.scheme.Digest(digest.Bytes(key)))
}

// How an add finds its one winner while a layer is added
//
// Two goroutines that add the same key may see different newest layers: one still
// layer 1, the other already layer 2. Each could be the winner of its layer. So who
// wins in a layer looks whether it is still the newest, and has not won until it
// is: otherwise it goes on to the newest one and races there too.
//
// At most one winner. Let A win in layer a and B in layer b. In one layer there is
// one winner, so let a < b. A saw a still newest after its bits were complete, so B,
// who saw b, saw it later than that. When B first saw a layer newer than a, it looked
// into all older ones but those that it had won itself, which a is not, as A has won
// it. There it found the key: B cannot have won.
//
// At least one. Let b be the newest layer to which any of them adds the key. The
// winner of b goes no further, so it has found b still newest: it has won. And one
// that returns false because it has found the key has found what another one added.
//
// How an add finds that there is no room
//
// An add that has no ticket, and no further layer to go to, may still find that another one
// is just adding the same key, with one of the last tickets; or that another one gives its
// ticket back, as the key was there. So there is no room only when every ticket is used, by
// an add whose bits are complete. That stays so. Who sees it, and then does not find the
// key, can say that the filter is full and the key is not in it.
//
// steps_test.go tries it in every order.

// AddDigest is [Filter.Add] for a key whose digest is already known, from
// [Filter.Hash] of this filter or one with the same hash and seed or key.
func (f *Filter) AddDigest(h1, h2 uint64) (bool, error) {
	waited := 0
	for looked := 0; ; { // layers before that do not have the key, or have it from us
		full := f.full.Load()
		noRoom := full != nil && full.usedUp.Load()
		now := f.layers.Load()
		if now.contains(h1, h2, looked) {
			return false, nil
		}
		if noRoom && looked == 0 {
			return false, full
		}
		newest := (*now)[len(*now)-1]
		took := newest.tickets.Take()
		if !took {
			full := f.grow(now)
			if full == nil {
				continue
			}
			if looked == 0 {
				switch {
				case newest.tickets.UsedUp():
					full.usedUp.Store(true)
				case waited == maxWait:
					return false, full
				default:
					pause(waited)
					waited++
				}
				continue
			}
			// The key is already in an older layer, and all that is open is who has
			// won. It may as well be in this one too.
		}
		if !newest.add(h1, h2, took) {
			return false, nil
		}
		if f.layers.Load() == now {
			return true, nil
		}
		looked = len(*now)
	}
}

// add adds a key to the layer and says whether it has won there. A ticket is used if it has,
// or if a strategy of the user's own panics, and given back otherwise.
func (l *layer) add(h1, h2 uint64, ticket bool) (won bool) {
	if !ticket {
		return l.AddDigest(h1, h2)
	}
	ended := false
	defer func() {
		if won || !ended {
			l.tickets.Use()
		} else {
			l.tickets.Give()
		}
	}()
	won = l.AddDigest(h1, h2)
	ended = true
	return won
}

// An add takes some nanoseconds, so that one that is under way seldom needs to be waited for
// longer than its goroutine waits for a processor. maxWait pauses are a second.
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

// grow adds a layer to the given ones, unless someone else already has. It returns what stands
// in the way of one, which stays there: limits and the machine's memory do not change.
func (f *Filter) grow(now *layers) *fullError {
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
	next, err := f.newLayer(*now)
	if err != nil {
		full := &fullError{cause: err}
		f.full.Store(full)
		return full
	}
	grown := append((*now)[:len(*now):len(*now)], next)
	f.layers.Store(&grown)
	return nil
}
