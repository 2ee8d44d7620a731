package rate

// Least returns the smallest number, from 1, that is enough, given a guess. Its
// steps double, because for p near 1 and many keys the guess is far off in words.
func Least(guess uint64, enough func(uint64) bool) uint64 {
	low, high := guess-1, guess // low is 0 or not enough
	for step := uint64(1); !enough(high); step *= 2 {
		low, high = high, high+step
	}
	for step := uint64(1); low > 0 && enough(low); step *= 2 {
		low, high = low-min(step, low), low
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
