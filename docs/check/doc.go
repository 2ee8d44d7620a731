// Package check holds the documentation to what it says: its tests compile every Go
// snippet in the README and in docs, and follow every link between the repository's files.
//
// A snippet that begins with a package clause is a file. Others may be declarations or
// the inside of a function; they have the packages in imports and the variables in
// given to use. What else a snippet takes for granted is declared in a comment above it,
// which readers do not see:
//
//	<!-- given: var f *persist.File -->
//
// A snippet that is not to be compiled has a comment with the reason:
//
//	<!-- not compiled: what another library looks like -->
package check
