// Package interleavings runs the library's own code in every order in which processors could
// run it. Its tests compile the packages with internal/stepped in place of sync/atomic and sync,
// and from then on decide which operation is next, and what it finds.
package interleavings
