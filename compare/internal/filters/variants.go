package filters

import (
	"slices"
	"time"

	boom "github.com/tylertreat/BoomFilters"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// Variants returns a plain filter, filters that grow, forget and remove, and those of BoomFilters.
// Their Bits are 0: the size of a growing one is not known at first.
func Variants() []*Peer {
	return slices.Concat(
		variant("bloom", func(n uint64, p float64) (set, error) { return bloom.New(n, p) }),
		variant("scalable, 1 layer", newGrowing),
		variant("scalable, 5 layers", func(n uint64, p float64) (set, error) { return newGrowing(n/30+1, p) }),
		variant("rotating", func(n uint64, p float64) (set, error) { return rotating.New(n, p, time.Hour) }),
		variant("counting", func(n uint64, p float64) (set, error) { return counting.New(n, p) }),
		[]*Peer{
			{Name: "BoomFilters, scalable", Make: func(n uint64, p float64) (Filter, error) {
				f := boom.NewScalableBloomFilter(uint(n), p, 0.8) // its default series
				return boomVariant(f), nil
			}},
			{Name: "BoomFilters, counting", Make: func(n uint64, p float64) (Filter, error) {
				f := boom.NewDefaultCountingBloomFilter(uint(n), p)
				return boomVariant(f), nil
			}},
		})
}

// A set is a filter of this library.
type set interface {
	Add(key []byte) bool
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
}

// growing is a scalable filter with room.
type growing struct{ *scalable.Filter }

func newGrowing(n uint64, p float64) (set, error) {
	f, err := scalable.New(n, p)
	return growing{f}, err
}

func (g growing) Add(key []byte) bool {
	added, err := g.Filter.Add(key)
	return added && err == nil
}

// variant returns a filter whose keys are looked up one at a time, and one whose keys are looked up
// in batches.
func variant(name string, make func(n uint64, p float64) (set, error)) []*Peer {
	peer := func(name string, batch bool) *Peer {
		return &Peer{Name: name, Safe: Full, Make: func(n uint64, p float64) (Filter, error) {
			f, err := make(n, p)
			if err != nil {
				return nil, err
			}
			a := adapter{
				add:      func(k Keys) int { return each(k.Bytes, f.Add) },
				contains: func(k Keys) int { return each(k.Bytes, f.Contains) },
			}
			if batch {
				a.contains = func(k Keys) int { return f.ContainsMany(k.Bytes, k.Answers) }
			}
			return a, nil
		}}
	}
	return []*Peer{peer(name, false), peer(name+", batch", true)}
}

func boomVariant(f boom.Filter) Filter {
	return adapter{
		add:      func(k Keys) int { return each(k.Bytes, func(key []byte) bool { f.Add(key); return false }) },
		contains: func(k Keys) int { return each(k.Bytes, f.Test) },
	}
}
