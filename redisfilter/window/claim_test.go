package window

import (
	"testing"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestFirstAddsKeepTheirContext while one of them takes the handle's slot.
func TestFirstAddsKeepTheirContext(t *testing.T) {
	s := redistest.Start(t)
	redistest.FirstAddsKeepTheirContext(t, s.Client, open(t, s.Client, 1000, 0.01, time.Hour, 4))
}
