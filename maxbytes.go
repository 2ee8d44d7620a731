package bloom

import "math"

// MaxBytes returns the limit that [WithMaxBytes] sets in these options, math.MaxUint64 if it
// is not among them. It is for packages that make something larger of filters and hold all
// of it to the limit.
func MaxBytes(opts ...Option) uint64 {
	o := options{maxBytes: math.MaxUint64}
	for _, opt := range opts {
		if opt != nil { // New refuses it
			opt(&o)
		}
	}
	return o.maxBytes
}
