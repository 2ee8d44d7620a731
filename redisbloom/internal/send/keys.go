package send

// JoinTries is how often making a key may be overtaken by somebody else.
const JoinTries = 10

// BatchKeys is the most keys that one command holds. Redis does nothing else while it
// executes a command: about 1 ms for this many.
const BatchKeys = 500

// Indices returns first ... last-1: the keys of an AddError.
func Indices(first, last int) []int {
	var all []int
	for i := first; i < last; i++ {
		all = append(all, i)
	}
	return all
}
