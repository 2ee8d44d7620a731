//go:build !race

package rotating

const raceDetector = false
