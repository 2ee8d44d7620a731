package send

import "strings"

// HashTag returns the hash tag of a key, or "". The hash tag determines the cluster slot.
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
