// Package proof has tests that are too slow, or have too many dependencies, for the library's own
// tests. Here: linearizability of recorded histories, and a soak test. In interleavings: every order
// of the library's atomic operations. In twins: broken versions of the library, one for each promise,
// which tests must notice. docs/guarantees.md has the commands.
package proof
