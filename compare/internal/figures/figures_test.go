package figures

import "testing"

func TestSpreadOut(t *testing.T) {
	heights := []float64{0, 0.1, 0.2, 5}
	SpreadOut(heights, 1, -1, 5.5)
	for i := 1; i < len(heights); i++ {
		if heights[i]-heights[i-1] < 0.999 {
			t.Errorf("too near: %v", heights)
		}
	}
}
