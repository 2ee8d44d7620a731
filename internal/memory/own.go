package memory

import (
	"reflect"
	"sync"
)

// Own marks f as a function of this module that does not keep its key, so that it gets the key itself and not a copy in
// a [Buffer].
func Own[F any](f F) F {
	own.Store(reflect.ValueOf(f).Pointer(), nil)
	return f
}

// IsOwn reports whether Own was called with the function.
func IsOwn(f any) bool {
	_, ok := own.Load(reflect.ValueOf(f).Pointer())
	return ok
}

var own sync.Map // keys are addresses of code
