package bloomtest

import (
	"bytes"
	"errors"
	"fmt"
)

// TestKeys tests an append function for package typed, with different values. It returns the first failure as an error.
// The function fails if it
//
//   - returns nil, or the same bytes for two of the values;
//   - returns different bytes for the same value in a later call, or if dst has less room;
//   - changes bytes that it returned for another value, or bytes before dst;
//   - keeps dst and uses its memory in another call.
func TestKeys[T any](appendKey func(dst []byte, v T) []byte, values ...T) error {
	if err := caught(func() error { return keys(appendKey, values) }); err != nil {
		return fmt.Errorf("bloomtest: append function: %w", err)
	}
	return nil
}

func keys[T any](appendKey func(dst []byte, v T) []byte, values []T) error {
	if len(values) < 2 {
		return errors.New("fewer than two values, want several different ones")
	}
	// The bytes of the first call for each value are compared with those of later calls.
	returned, want := make([][]byte, len(values)), make([][]byte, len(values))
	seen := map[string]int{}
	for i, v := range values {
		if returned[i] = appendKey(make([]byte, 0, 128), v); returned[i] == nil {
			return fmt.Errorf("nil for %v", v)
		}
		want[i] = bytes.Clone(returned[i])
		if first, twice := seen[string(want[i])]; twice {
			return fmt.Errorf("the same bytes %x for %v and %v", want[i], values[first], v)
		}
		seen[string(want[i])] = i
	}
	for i, v := range values {
		const before = "bytes before"
		for _, room := range []int{0, 1, 1000} {
			dst := append(make([]byte, 0, len(before)+room), before...)
			if got := appendKey(dst[len(before):], v); !bytes.Equal(got, want[i]) {
				return fmt.Errorf("%x and then %x for %v, with room for %d bytes", want[i], got, v, room)
			}
			if string(dst) != before {
				return fmt.Errorf("the bytes before dst change to %q for %v", dst, v)
			}
			for j := range dst[:cap(dst)] { // the function must no longer use this memory
				dst[:cap(dst)][j] = 0xa5
			}
		}
	}
	for i := range values {
		if !bytes.Equal(returned[i], want[i]) {
			return fmt.Errorf("%x, returned for %v, became %x in later calls: the memory is shared", want[i], values[i], returned[i])
		}
	}
	return nil
}
