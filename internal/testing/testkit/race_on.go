//go:build race

package testkit

// RaceDetector is true if the race detector is on, which makes everything ten times slower.
const RaceDetector = true
