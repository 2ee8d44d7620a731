// Package batch has code that the batch methods of all filters share.
package batch

import "fmt"

// CheckAnswers panics unless answers is nil or as long as the batch.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: %d answers for %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}

// Answer stores the answer to the i-th key unless answers is nil. It returns 1 for true and 0 for false, so that
// callers can count.
func Answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	return One(yes)
}

// One returns 1 for true and 0 for false. The compiled code has no branch.
func One(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
