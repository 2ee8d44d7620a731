// Package compare measures this library and other Bloom filters for Go and Java. README.md has the
// commands.
package compare
