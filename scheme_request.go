package bloom

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
)

// A schemeRequest is what was asked for: a filter for n keys at rate p.
type schemeRequest struct {
	n        uint64
	p        float64
	strategy *definition
	hash     hasher
}

// scheme returns the scheme that it asks for.
func (r schemeRequest) scheme() (*scheme, error) {
	if s := r.recent(); s != nil {
		return s, nil
	}
	if err := r.hash.fits(Strategy{r.strategy}); err != nil {
		return nil, err // before a search
	}
	// Keys with equal digests are part of the rate. Without that part, p must
	// still be possible.
	collisions, rest := r.hash.collisions(r.n), r.p
	if r.p > 0 && r.p < 1 { // paramsFor refuses any other
		if rest -= collisions; rest <= 0 {
			return nil, fmt.Errorf("%w: p = %v with %v, of whose digests n = %d keys take a share of %.2g: want a larger p", ErrInvalid, r.p, r.hash.def.name, r.n, collisions)
		}
	}
	params, strategy, err := paramsFor(r.n, rest, Strategy{r.strategy})
	if err != nil {
		if rest != r.p {
			err = fmt.Errorf("%w (of p = %v, %.2g are taken by equal digests of %v)", err, r.p, collisions, r.hash.def.name)
		}
		return nil, err
	}
	params.P = r.p
	return r.keep(params, strategy)
}

// Who makes many filters makes them alike, one for each block of a file or for each user.
// So the schemes that New has made lately are kept, and shared: no sizing, and less memory
// for each filter. There are at most as many as recentSchemes has places, some ten
// kilobytes; none with a secret key, which should not live longer than its filters.
var recentSchemes [64]atomic.Pointer[sizedScheme]

// A sizedScheme is a scheme and what was asked for: one allocation.
type sizedScheme struct {
	scheme  scheme
	request schemeRequest
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

// keep makes the scheme for the request, to be found again.
func (r schemeRequest) keep(params Params, strategy Strategy) (*scheme, error) {
	kept := &sizedScheme{request: r}
	if err := kept.scheme.set(params, strategy, r.hash); err != nil {
		return nil, err
	}
	if r.hash.def != &sipHash {
		r.place().Store(kept)
	}
	return &kept.scheme, nil
}
