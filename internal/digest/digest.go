// Package digest has what everything with the methods of a filter shares.
package digest

import (
	"fmt"
	"unsafe"
)

// Bytes views a string as bytes without a copy. The result must not be written to, nor kept beyond
// the call it is made for.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// CheckAnswers panics unless answers is nil or as long as the batch.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: room for %d answers to %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}
