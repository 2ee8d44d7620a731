package bloom

import (
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
)

// Who makes many filters makes them alike, one for each block of a file or for each user.
// So the schemes that New has made lately are kept, and shared: no sizing, and less memory
// for each filter. There are at most as many as recentSchemes has places, some ten
// kilobytes; none with a secret key, which should not live longer than its filters.
var recentSchemes [64]atomic.Pointer[sizedScheme]

// A sizedScheme is a scheme and what was asked for: one allocation.
type sizedScheme struct {
	scheme  scheme
	request sizeRequest
}

type sizeRequest struct {
	n        uint64
	p        float64
	strategy *definition
	hash     hasher
}

// place returns where the request's scheme is kept, in the company of many others.
func (r sizeRequest) place() *atomic.Pointer[sizedScheme] {
	x := (r.n*probe.Mul ^ math.Float64bits(r.p) ^ uint64(r.strategy.id)) * probe.Mul
	return &recentSchemes[x>>58]
}

// recent returns the scheme for the request if it is still there.
func (r sizeRequest) recent() *scheme {
	if kept := r.place().Load(); kept != nil && kept.request == r {
		return &kept.scheme
	}
	return nil
}

// keep returns the scheme for the request, to be found again.
func (r sizeRequest) keep(s scheme) *scheme {
	made := &sizedScheme{s, r}
	if r.hash.hash != &sipHash {
		r.place().Store(made)
	}
	return &made.scheme
}
