package bloom

import (
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
)

// Programs with many filters make them alike, one for each block of a file or for each user.
// So the schemes that New has made lately are kept, and shared: no sizing, and less memory
// for each filter. There are at most as many as recentSchemes has places, some ten
// kilobytes; none with a secret key, which should not live longer than its filters.
var recentSchemes [64]atomic.Pointer[sizedScheme]

// A sizedScheme is a scheme and what was asked for: one allocation.
type sizedScheme struct {
	scheme  scheme
	request schemeRequest
}

// A schemeRequest is what was asked for.
type schemeRequest struct {
	n        uint64
	p        float64
	strategy *definition
	hash     hasher
}

// place returns where the request's scheme is kept, in the company of many others.
func (r schemeRequest) place() *atomic.Pointer[sizedScheme] {
	x := (r.n*probe.Mul ^ math.Float64bits(r.p) ^ uint64(r.strategy.id)) * probe.Mul
	return &recentSchemes[x>>58]
}

// recent returns the scheme for the request if it is still there.
func (r schemeRequest) recent() *scheme {
	if kept := r.place().Load(); kept != nil && kept.request == r {
		return &kept.scheme
	}
	return nil
}

// keep makes the scheme one of the recent ones.
func (s *sizedScheme) keep() {
	if s.request.hash.def != &sipHash {
		s.request.place().Store(s)
	}
}
