package main

import (
	"testing"
	"time"
)

// TestProgressText with and without a known size, which is dropped if there is more.
func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		read, of, keys int64
		want           string
	}{
		{0, 0, 0, "bloom: 0 B read"},
		{0, 4e6, 0, "bloom: 0 B read"},
		{1e6, 4e6, 1, "bloom: 1.0 MB of 4.0 MB read, 1 key, 30s left"},
		{4e6, 4e6, 1234, "bloom: 4.0 MB of 4.0 MB read, 1,234 keys, 0s left"},
		{5e6, 4e6, 1234, "bloom: 5.0 MB read, 1,234 keys"},
		{5e6, -1, 0, "bloom: 5.0 MB read"},
	} {
		p := progress{of: c.of}
		p.read.Store(c.read)
		p.keys.Store(c.keys)
		if got := p.text(10 * time.Second); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.read, c.of, got, c.want)
		}
	}
}
