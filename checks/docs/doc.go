// Package docs checks what the documents say: its tests compile every Go snippet, resolve commands, follow links, and
// limit words and the size of programs. It also writes cmd/THIRD_PARTY_NOTICES.
//
// A snippet is a file, declarations, or the inside of a function. The last two may use the packages
// and variables in snippets_test.go, and what a comment above them declares:
//
//	<!-- given: var f *persist.File -->
//
// A snippet that must not be compiled says why:
//
//	<!-- not compiled: another library's code -->
package docs
