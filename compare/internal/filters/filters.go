// Package filters has this library's filters and those of others behind one small
// interface, for the programs that measure them.
package filters

// Keys are a chunk of keys. For filters that are measured with hashed keys there are only
// digests, of which one of 64 bits is the first half.
type Keys struct {
	Bytes   [][]byte
	Digests [][2]uint64
	Answers []bool // room for an answer to each
}

// A Filter takes a chunk of keys a call, so that the calls for the keys are direct, as in a
// user's program, and the compiler may inline them.
type Filter interface {
	// Add adds the keys and returns how many the filter called new, 0 if it does not say.
	Add(Keys) int
	// Contains returns for how many of the keys the answer was true.
	Contains(Keys) int
	// Bits returns the memory that the filter's bits take, in bits.
	Bits() uint64
}

// A Builder is a static filter: Add collects, Build makes the filter of it.
type Builder interface{ Build() }

// Safety says what several goroutines may do with a filter at once.
type Safety int

const (
	None    Safety = iota // nothing: even asking changes it
	Readers               // ask, while nobody adds
	Full                  // add and ask
)

func (s Safety) String() string { return [...]string{"no", "readers only", "yes"}[s] }

// A Peer is one way of one library to be a filter.
type Peer struct {
	Name   string
	Module string // path, for the version; empty if it is none
	Hash   string
	Safe   Safety
	Static bool // all keys must be known when it is built
	Hashed bool // takes digests
	Ours   bool
	Floor  bool // no filter, but what is a part of all
	Make   func(n uint64, p float64) (Filter, error)
}

// number is for how many of the keys the answer is yes, and numberHashed for digests. The
// compiler puts them, and the function that they are given, into the method that calls them,
// so that nothing is called but the filter.
func number(keys [][]byte, yes func(key []byte) bool) (n int) {
	for _, key := range keys {
		n += count(yes(key))
	}
	return n
}

func numberHashed(digests [][2]uint64, yes func(h1, h2 uint64) bool) (n int) {
	for i := range digests {
		n += count(yes(digests[i][0], digests[i][1]))
	}
	return n
}

// count is 1 for true; the compiler makes no branch of it.
func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
