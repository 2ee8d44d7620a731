package memory

import (
	"reflect"
	"sync"
)

// Own says that a function of this module does not keep the key that it gets: it needs no copy in a [Buffer].
func Own[F any](f F) F {
	own.Store(reflect.ValueOf(f).Pointer(), nil)
	return f
}

// IsOwn reports whether Own was called with the function.
func IsOwn(f any) bool {
	_, ok := own.Load(reflect.ValueOf(f).Pointer())
	return ok
}

var own sync.Map // of the addresses of their code
