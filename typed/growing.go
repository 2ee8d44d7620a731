package typed

// A GrowingSet holds keys and grows, so Add can fail. It is a Filter of package scalable, rotating or redisbloom. Its
// methods must not keep the keys or the answers after they return.
type GrowingSet interface {
	Add(key []byte) (bool, error)
	Contains(key []byte) bool
	AddMany(keys [][]byte, added []bool) (int, error)
	ContainsMany(keys [][]byte, found []bool) int
}

// A Growing adds values of type T to a [GrowingSet] and looks them up. Otherwise it is like a [Filter].
type Growing[T any] struct {
	encoder[T, GrowingSet]
}

// NewGrowing returns a Growing that adds values to set and looks them up in set. For appendKey, see [New].
func NewGrowing[T any](set GrowingSet, appendKey func(dst []byte, v T) []byte) *Growing[T] {
	checkNew(set, appendKey == nil)
	return &Growing[T]{encoder[T, GrowingSet]{"Growing", appendKey, set}}
}

// Add adds a value and returns the results of the set's Add.
func (g *Growing[T]) Add(v T) (added bool, err error) {
	b := g.begin()
	added, err = g.set.Add(g.key(b, v))
	b.end()
	return added, err
}

// AddMany adds values like [Growing.Add], and stops at the first error. It returns how many were definitely new. If
// added is not nil, AddMany sets added[i] to the answer of Add for values[i].
//
// It panics if added is neither nil nor as long as values.
func (g *Growing[T]) AddMany(values []T, added []bool) (int, error) {
	return g.many(values, added, func(keys [][]byte, added []bool) (int, error) { return g.set.AddMany(keys, added) })
}
