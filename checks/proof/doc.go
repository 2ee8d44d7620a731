// Package proof has tests that are too slow, or have too many dependencies, for the packages of the library. Its own
// tests are for the linearizability of recorded histories, and a soak test. Package interleavings runs the library's
// atomic operations in every order. Package twins has broken versions of the library, which tests must notice.
// CONTRIBUTING.md has the commands.
package proof
