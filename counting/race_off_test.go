//go:build !race

package counting

const raceDetector = false
