package send

import (
	"context"
	"strings"
	"time"
)

// HashTag returns the part of a key that alone decides its slot, or "".
func HashTag(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, ok := strings.Cut(rest, "}")
	if !ok {
		return ""
	}
	return tag
}

// NextTo returns a name in the same cluster slot as key, for a temporary value.
func NextTo(key, suffix string) string {
	if HashTag(key) != "" {
		return key + suffix
	}
	return "{" + key + "}" + suffix
}

// Remove removes a temporary value, also when ctx has ended. If this fails, the value expires.
func (s *Sender) Remove(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = Do[int64](ctx, s, key, "UNLINK", key)
}
