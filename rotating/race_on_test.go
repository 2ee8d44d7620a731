//go:build race

package rotating

// raceDetector is on: it makes everything ten times slower, and tests that only
// count do less.
const raceDetector = true
