//go:build race

package lockstep

// RaceDetector is true if the race detector is on, which makes everything ten times slower.
const RaceDetector = true
