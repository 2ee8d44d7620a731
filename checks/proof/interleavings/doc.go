// Package interleavings runs the library's code in every order of its atomic operations. Its tests
// compile packages with internal/testing/stepped instead of sync/atomic and sync. They choose which operation
// comes next and which value it returns.
package interleavings
