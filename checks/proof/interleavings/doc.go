// Package interleavings runs the library's code in every order of its atomic operations. Its tests compile packages
// with internal/testing/stepped instead of sync/atomic and sync. stepped chooses which operation is next.
package interleavings
