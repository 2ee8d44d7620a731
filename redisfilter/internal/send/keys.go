package send

import "strconv"

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

// CheckAnswers panics if there are answers and not one for each key, and clears them.
func CheckAnswers(keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic("redisfilter: answers are neither nil nor as long as keys")
	}
	clear(answers)
}

// Spread reads a bit for each of n answers, the first in the lowest bit of the first byte, and
// returns how many are true. If answers is not nil, they go there from first on.
func Spread(bits string, n, first int, answers []bool) (count int) {
	for i := range n {
		yes := bits[i/8]>>(i%8)&1 == 1
		if answers != nil {
			answers[first+i] = yes
		}
		if yes {
			count++
		}
	}
	return count
}

// AppendDecimal appends a number's decimal digits, and before them how many there are: a number
// that a script passes on as it is.
func AppendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}
