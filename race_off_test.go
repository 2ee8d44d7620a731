//go:build !race

package bloom

const raceDetector = false
