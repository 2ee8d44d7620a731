// Package filters gives this library's filters and those of others one small interface, to measure
// them.
package filters

// A Filter takes a chunk of keys per call, so that the calls per key are direct, as in a
// program that uses the filter, and can be inlined.
type Filter interface {
	// Add adds the keys and returns how many of them the filter called new, or 0.
	Add(Keys) int
	// Contains returns for how many keys the answer was true.
	Contains(Keys) int
	// Bits returns the size of the filter's bit array, or 0.
	Bits() uint64
}

// A Builder is a filter whose keys must all be added before Build.
type Builder interface{ Build() }

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
	Make   func(n uint64, p float64) (Filter, error)
}

// An adapter makes a Filter of functions.
type adapter struct {
	add, contains func(Keys) int
	build         func()
	bits          uint64
}

func (a adapter) Add(keys Keys) int      { return a.add(keys) }
func (a adapter) Contains(keys Keys) int { return a.contains(keys) }
func (a adapter) Bits() uint64           { return a.bits }
func (a adapter) Build() {
	if a.build != nil {
		a.build()
	}
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
