//go:build race

package lockstep

// RaceDetector is on: it makes everything ten times slower, and tests that only count do
// less.
const RaceDetector = true
