// Package compare measures this library next to the other Bloom filters for Go, and next to
// Guava's if Java is installed. README.md has the commands.
package compare
