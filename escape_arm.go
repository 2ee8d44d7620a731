package bloom

// On 32-bit ARM nothing is hidden, see escape.go.

func unescaped(key []byte) []byte { return key }

func unescapedPositions(dst []uint64) []uint64 { return dst }

func unescapedMasks(dst []Mask) []Mask { return dst }
