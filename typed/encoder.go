package typed

import (
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
)

// checkNew panics if the set is nil or a nil pointer, or there is no function.
func checkNew(set any, noFunction bool) {
	if v := reflect.ValueOf(set); noFunction || set == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("typed: New with a nil set or append function")
	}
}

// An encoder encodes values as keys, and looks them up. Filter and Growing embed it.
type encoder[T any, S lookups] struct {
	kind      string // the name of the type that embeds it, for String
	appendKey func(dst []byte, v T) []byte
	set       S
}

type lookups interface {
	Contains(key []byte) bool
	ContainsMany(keys [][]byte, found []bool) int
}

// Contains returns false if the value was definitely never added, true if it probably was.
func (e *encoder[T, S]) Contains(v T) (found bool) {
	b := e.begin()
	found = e.set.Contains(e.key(b, v))
	b.end()
	return found
}

// ContainsMany is [bloom.BloomFilter.ContainsMany] for values. It returns how many were probably added. If found is not
// nil, ContainsMany sets found[i] to the answer of Contains for values[i].
//
// It panics if found is neither nil nor as long as values.
func (e *encoder[T, S]) ContainsMany(values []T, found []bool) int {
	count, _ := e.many(values, found, func(keys [][]byte, found []bool) (int, error) { return e.set.ContainsMany(keys, found), nil })
	return count
}

// String returns a line for a log: the type of the values, and the description of the filter.
func (e *encoder[T, S]) String() string {
	return fmt.Sprintf("typed.%s(values=%T set=%v)", e.kind, *new(T), e.set)
}

// LogValue returns what String returns, for package log/slog.
func (e *encoder[T, S]) LogValue() slog.Value { return slog.StringValue(e.String()) }

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use the methods of the filter that New took.
func (e *encoder[T, S]) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a typed."+e.kind, "the methods of its set")
}

// groupKeys is the number of values that are encoded before a call of the set: a multiple of the 32 keys that a
// BloomFilter prefetches at a time.
const groupKeys = 64

// keyBytes is the length of the longest key for which nothing is allocated.
const keyBytes = 128

// A buffer has the memory to which the caller's append function appends keys. It is on the heap: a function that
// wrongly keeps the memory sees other keys later, but cannot corrupt a stack.
type buffer struct {
	bytes   [groupKeys * keyBytes]byte
	used    int
	keys    [groupKeys][]byte
	answers [groupKeys]bool
}

var pooled = sync.Pool{New: func() any { return new(buffer) }}

func (e *encoder[T, S]) begin() *buffer {
	if e.appendKey == nil { // the zero Filter
		panic("typed: use of a Filter that was not made by New")
	}
	return pooled.Get().(*buffer)
}

// end returns the buffer to the pool. After a panic of the append function, end is not called: the function may still
// use the buffer.
func (b *buffer) end() {
	b.used = 0
	pooled.Put(b)
}

// key encodes v in unused memory of b, or in new memory if it is too long.
func (e *encoder[T, S]) key(b *buffer, v T) []byte {
	room := b.bytes[b.used:b.used:min(b.used+keyBytes, len(b.bytes))]
	key := e.appendKey(room, v)
	if key == nil {
		panic("typed: the append function returned nil")
	}
	b.used += keyBytes
	return key
}

// many encodes values in groups and calls call with the keys of each group, until call returns an error. It returns the
// sum of the counts.
func (e *encoder[T, S]) many(values []T, answers []bool, call func(keys [][]byte, answers []bool) (int, error)) (count int, err error) {
	batch.CheckAnswers("typed", len(values), answers)
	clear(answers)
	b := e.begin()
	for len(values) > 0 && err == nil {
		n := min(len(values), groupKeys)
		for i, v := range values[:n] {
			b.keys[i] = e.key(b, v)
		}
		var own []bool
		if answers != nil {
			own = b.answers[:n]
			clear(own) // if the set stops at an error, the other answers are false
		}
		added := 0
		added, err = call(b.keys[:n], own)
		count += added
		copy(answers, own)
		clear(b.keys[:n]) // lets the garbage collector free long keys
		values, answers, b.used = values[n:], answers[min(n, len(answers)):], 0
	}
	b.end()
	return count, err
}
