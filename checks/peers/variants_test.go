package compare

import (
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// Variants returns a plain filter, and filters that grow, forget and remove. Their Bits are 0: the size of a
// growing one is not known at first.
func Variants() []*Peer {
	return []*Peer{
		variant("bloom", func(n uint64, p float64) (set, error) { return bloom.New(n, p) }),
		variant("scalable, 1 layer", newGrowing),
		variant("scalable, 5 layers", func(n uint64, p float64) (set, error) { return newGrowing(n/30+1, p) }),
		variant("rotating", func(n uint64, p float64) (set, error) {
			f, err := rotating.New(n, p, time.Hour)
			return layeredtest.Unfailing{Growing: f}, err
		}),
		variant("counting", func(n uint64, p float64) (set, error) { return counting.New(n, p) }),
	}
}

// A set is a filter of this library.
type set interface {
	Add(key []byte) bool
	Contains(key []byte) bool
}

func newGrowing(n uint64, p float64) (set, error) {
	f, err := scalable.New(n, p)
	return layeredtest.Unfailing{Growing: f}, err
}

func variant(name string, make func(n uint64, p float64) (set, error)) *Peer {
	return &Peer{Name: name, Safe: Full, Make: func(n uint64, p float64) (*Filter, error) {
		f, err := make(n, p)
		return &Filter{
			add:      func(k Keys) int { return each(k.Bytes, f.Add) },
			contains: func(k Keys) int { return each(k.Bytes, f.Contains) },
		}, err
	}}
}
