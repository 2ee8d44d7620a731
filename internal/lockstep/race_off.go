//go:build !race

package lockstep

const RaceDetector = false
