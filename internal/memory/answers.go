package memory

import (
	"fmt"
	"unsafe"
)

// BytesOf views a string as bytes without a copy. The result must not be written to.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// CheckAnswers panics unless answers is nil or as long as the batch.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: %d answers for %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}
