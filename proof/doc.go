// Package proof holds tests that are too slow, or need too much, for the tests of the library
// itself: linearizability of recorded histories and a soak in this folder, every order of the
// library's atomic operations in interleavings, and a broken version of the library for each
// promise in twins. docs/guarantees.md has the commands.
package proof
