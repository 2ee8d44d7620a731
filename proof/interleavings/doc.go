// Package interleavings runs the library's own adds in every order that processors could
// run them in. Its test compiles package bloom with internal/stepped in place of
// sync/atomic, and from then on decides what each load and each locked OR finds.
package interleavings
