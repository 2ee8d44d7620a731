//go:build race

package persist

// raceDetector is on: it makes everything ten times slower, and tests that only
// count do less.
const raceDetector = true
