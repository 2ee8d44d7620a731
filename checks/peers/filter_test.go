package compare

// A Filter is a filter of this library or another one. Its functions take a chunk of keys per call,
// so that the calls per key are direct, as in a program that uses the filter, and can be inlined.
type Filter struct {
	add      func(Keys) int // returns how many of the keys the filter called new, or 0
	contains func(Keys) int // returns for how many keys the answer was true
	build    func()         // if not nil, it must be called between all adds and the first lookup
	bits     uint64         // the size of the bit array, or 0; known once it is built
}

// Safety is what several goroutines may do with a filter at once.
type Safety int

const (
	None    Safety = iota // nothing, not even look up keys
	Readers               // look up keys
	Full                  // add and look up keys
)

// A Peer is a filter of some library, used in one way.
type Peer struct {
	Name   string
	Safe   Safety
	Hashed bool // keys are digests
	Static bool // keys cannot be added after Build
	Make   func(n uint64, p float64) (*Filter, error)
}

// each counts the keys for which yes returns true. It is inlined together with yes.
func each[K any](keys []K, yes func(key K) bool) (n int) {
	for _, key := range keys {
		if yes(key) {
			n++
		}
	}
	return n
}
