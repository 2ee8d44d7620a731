//go:build !race

package scalable

const raceDetector = false
