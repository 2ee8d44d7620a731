//go:build race

package testkit

// RaceDetector is true if the race detector is on. It makes everything ten times slower.
const RaceDetector = true
