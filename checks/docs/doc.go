// Package docs checks the documents: its tests compile every Go snippet, resolve commands, follow links, and limit
// the size of programs. It also writes cmd/THIRD_PARTY_NOTICES.
//
// A snippet is a file, declarations, or the body of a function. The last two may use the packages and variables in
// snippets_test.go, and the variables that a comment above them declares:
//
//	<!-- given: var f *persist.File -->
//
// A snippet that cannot be compiled has a comment with the reason:
//
//	<!-- not compiled: another library's code -->
package docs
