// Package digest has helpers for types with the methods of a filter.
package digest

import (
	"fmt"
	"unsafe"
)

// Bytes views a string as bytes without a copy. The result must not be written to.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// CheckAnswers panics unless answers is nil or as long as the batch.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: room for %d answers to %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}
